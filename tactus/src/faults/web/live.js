// Reloads the page while the campaign goes on; the browser keeps the place to which it is scrolled. Not while a text is
// selected, such as a command to be copied, while the page is not seen, or while the reader has stopped it.
(() => {
  'use strict';
  const RELOAD_MS = 2000;
  // The tool writes once a second, or rarer where the file system is slow.
  const SILENT_S = 60;
  const written = Number(document.documentElement.dataset.written);
  const note = document.getElementById('news');
  const button = document.getElementById('stop');
  let stopped = false;
  const age = () => Math.round((Date.now() - written) / 1000);
  const tell = () => {
    const seconds = age();
    note.classList.toggle('warn', seconds > SILENT_S);
    if (seconds > SILENT_S) note.textContent = `Nothing has been written for ${seconds} s: the campaign may have been ended. The same command goes on.`;
    else if (stopped) note.textContent = `As of ${seconds} s ago.`;
    else if (String(getSelection())) note.textContent = 'Not reloaded while a text is selected.';
  };
  const step = () => {
    tell();
    if (!stopped && !document.hidden && !String(getSelection())) location.reload();
  };
  button.hidden = false;
  button.addEventListener('click', () => {
    stopped = !stopped;
    button.textContent = stopped ? 'Go on' : 'Hold';
    if (stopped) tell(); else location.reload();
  });
  document.addEventListener('visibilitychange', () => { if (age() * 1000 >= RELOAD_MS) step(); });
  setInterval(step, RELOAD_MS);
  if (age() > SILENT_S) tell();
})();
