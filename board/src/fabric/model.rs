//! A design compiled from RTL, in a shared object that `fabric/flow.py model` makes. `fabric/coupling/model.h` says the
//! same in C.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use libloading::Library;

use super::{Fabric, GpInputs, GpOutputs, Inputs, Outputs, TILES};
use crate::bus::BadState;

/// Goes up with each change of `model.h`.
const VERSION: u32 = 3;

/// A model that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// It is no shared object with a model's functions.
    #[error("{} is no model of a fabric's design: {reason}", file.display())]
    Load {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: libloading::Error,
    },
    /// It was made for another board.
    #[error("{} is a model of version {version}, and this board takes version {VERSION}: compile it again with fabric/flow.py model", file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// Its version.
        version: u32,
    },
}

/// The functions of `model.h`.
struct Functions {
    delete: unsafe extern "C" fn(*mut c_void),
    cycle: unsafe extern "C" fn(*mut c_void, *const Inputs, u64, *mut Outputs),
    skip: unsafe extern "C" fn(*mut c_void, u64, *mut Outputs),
    look: unsafe extern "C" fn(*const c_void, *mut Outputs),
    look_tiles: unsafe extern "C" fn(*const c_void, *mut GpOutputs),
    cycle_tiles: unsafe extern "C" fn(
        *mut c_void,
        *const Inputs,
        *const GpInputs,
        u64,
        *mut Outputs,
        *mut GpOutputs,
    ),
    lose_power: unsafe extern "C" fn(*mut c_void, u64, *mut Outputs),
    save: unsafe extern "C" fn(*const c_void, *mut u8, usize) -> usize,
    restore: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int,
    waves: unsafe extern "C" fn(*mut c_void, *const c_char, u64) -> c_int,
    end_waves: unsafe extern "C" fn(*mut c_void),
}

/// A model: one fabric, after reset.
pub struct Model {
    name: String,
    model: *mut c_void,
    functions: Functions,
    outputs: Outputs,
    has_tiles: bool,
    tile_outputs: [GpOutputs; TILES],
    // Last, so that it outlives what came from it.
    _library: Library,
}

// Safety: a model shares nothing with others and knows no thread; it is called through one reference at a time.
unsafe impl Send for Model {}

impl Model {
    /// Loads a model from its file.
    ///
    /// # Errors
    ///
    /// When the file is no model, or one of another version. The file is code that is run: it has to be one's own.
    pub fn load(file: &Path) -> Result<Self, ModelError> {
        let failed = |reason| ModelError::Load {
            file: file.to_owned(),
            reason,
        };
        // Safety: the file is a model that the project's flow made, or something that its user trusts as much; loading
        // one runs nothing but the constructors of its C++.
        let library = unsafe { Library::new(file) }.map_err(failed)?;
        // Safety: for all in this block, the types are those of `model.h`, whose version is compared first; `new` gives
        // a model that is valid until `delete`, and `name` a string that is valid as long as the library.
        unsafe {
            let version = library
                .get::<unsafe extern "C" fn() -> u32>(b"tactus_fabric_version\0")
                .map_err(failed)?();
            if version != VERSION {
                return Err(ModelError::Version {
                    file: file.to_owned(),
                    version,
                });
            }
            let name = library
                .get::<unsafe extern "C" fn() -> *const c_char>(b"tactus_fabric_name\0")
                .map_err(failed)?();
            let new = *library
                .get::<unsafe extern "C" fn() -> *mut c_void>(b"tactus_fabric_new\0")
                .map_err(failed)?;
            let tiles = library
                .get::<unsafe extern "C" fn() -> c_int>(b"tactus_fabric_tiles\0")
                .map_err(failed)?();
            let functions = Functions {
                delete: *library.get(b"tactus_fabric_delete\0").map_err(failed)?,
                cycle: *library.get(b"tactus_fabric_cycle\0").map_err(failed)?,
                skip: *library.get(b"tactus_fabric_skip\0").map_err(failed)?,
                look: *library.get(b"tactus_fabric_look\0").map_err(failed)?,
                look_tiles: *library.get(b"tactus_fabric_look_tiles\0").map_err(failed)?,
                cycle_tiles: *library
                    .get(b"tactus_fabric_cycle_tiles\0")
                    .map_err(failed)?,
                lose_power: *library.get(b"tactus_fabric_lose_power\0").map_err(failed)?,
                save: *library.get(b"tactus_fabric_save\0").map_err(failed)?,
                restore: *library.get(b"tactus_fabric_restore\0").map_err(failed)?,
                waves: *library.get(b"tactus_fabric_waves\0").map_err(failed)?,
                end_waves: *library.get(b"tactus_fabric_end_waves\0").map_err(failed)?,
            };
            let mut model = Self {
                name: CStr::from_ptr(name).to_string_lossy().into_owned(),
                model: new(),
                functions,
                outputs: Outputs::default(),
                has_tiles: tiles == TILES as c_int,
                tile_outputs: [GpOutputs::default(); TILES],
                _library: library,
            };
            model.look();
            Ok(model)
        }
    }

    fn look(&mut self) {
        // Safety: a model that was not deleted, and room for what all its tiles' ports say.
        unsafe {
            (self.functions.look)(self.model, &raw mut self.outputs);
            (self.functions.look_tiles)(self.model, self.tile_outputs.as_mut_ptr());
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        // Safety: it is used no more.
        unsafe { (self.functions.delete)(self.model) }
    }
}

impl Fabric for Model {
    fn name(&self) -> &str {
        &self.name
    }

    #[inline]
    fn outputs(&self) -> &Outputs {
        &self.outputs
    }

    fn cycle(&mut self, inputs: &Inputs, picoseconds: u64) {
        let outputs = &raw mut self.outputs;
        // Safety: a model that was not deleted, and places that live as long as the call.
        unsafe { (self.functions.cycle)(self.model, inputs, picoseconds, outputs) }
    }

    fn has_tiles(&self) -> bool {
        self.has_tiles
    }

    #[inline]
    fn tile_outputs(&self) -> &[GpOutputs; TILES] {
        &self.tile_outputs
    }

    fn cycle_with_tiles(&mut self, inputs: &Inputs, tiles: &[GpInputs; TILES], picoseconds: u64) {
        let (outputs, answers) = (&raw mut self.outputs, self.tile_outputs.as_mut_ptr());
        // Safety: a model that was not deleted, and places that live as long as the call.
        unsafe {
            (self.functions.cycle_tiles)(
                self.model,
                inputs,
                tiles.as_ptr(),
                picoseconds,
                outputs,
                answers,
            );
        }
    }

    fn skip(&mut self, cycles: u64) {
        // Safety: as above.
        unsafe { (self.functions.skip)(self.model, cycles, &raw mut self.outputs) }
    }

    fn lose_power(&mut self, seed: u64, _: u64) {
        // Safety: as above.
        unsafe { (self.functions.lose_power)(self.model, seed, &raw mut self.outputs) }
        self.look();
    }

    fn save(&self) -> Vec<u8> {
        // Safety: a model that was not deleted; nothing is written where there is room for nothing.
        let size = unsafe { (self.functions.save)(self.model, std::ptr::null_mut(), 0) };
        let mut state = vec![0; size];
        // Safety: no more is written than there is room for.
        unsafe { (self.functions.save)(self.model, state.as_mut_ptr(), size) };
        state
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), BadState> {
        // Safety: as many bytes as it is told of.
        let taken =
            unsafe { (self.functions.restore)(self.model, state.as_ptr(), state.len()) } != 0;
        if !taken {
            return Err(BadState(format!(
                "fabric: the state is not one of this model of the design {}",
                self.name
            )));
        }
        self.look();
        Ok(())
    }

    fn begin_waves(&mut self, file: &Path, period_picoseconds: u64) -> Result<(), String> {
        let name = CString::new(file.as_os_str().as_bytes())
            .map_err(|_| "a file's name has no zero byte".to_owned())?;
        // What the library says when it can't is nothing; so it is asked for by us.
        std::fs::File::create(file).map_err(|error| error.to_string())?;
        // Safety: a string that lives as long as the call.
        let begun =
            unsafe { (self.functions.waves)(self.model, name.as_ptr(), period_picoseconds) } != 0;
        if begun {
            Ok(())
        } else {
            Err("the waveforms' file can't be written".to_owned())
        }
    }

    fn end_waves(&mut self) {
        // Safety: a model that was not deleted.
        unsafe { (self.functions.end_waves)(self.model) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[test]
    fn the_structures_are_those_of_the_header() {
        // As a C compiler lays them out by the header's order: checked here for what is used.
        assert_eq!(size_of::<super::super::Answers>(), 16);
        assert_eq!(size_of::<super::super::Requests>(), 40);
        assert_eq!(size_of::<Inputs>(), 24 + 2 * 16);
        assert_eq!(size_of::<Outputs>(), 24 + 2 * 40);
        assert_eq!(offset_of!(Inputs, acp), 24);
        assert_eq!(offset_of!(Outputs, acp), 24);
        assert_eq!((size_of::<GpInputs>(), size_of::<GpOutputs>()), (20, 12));
    }

    #[test]
    fn files_that_are_no_model_are_refused() {
        let file = std::env::temp_dir().join(format!("no-model-{}", std::process::id()));
        assert!(matches!(Model::load(&file), Err(ModelError::Load { .. })));
        std::fs::write(&file, b"no model").expect("a file");
        assert!(matches!(Model::load(&file), Err(ModelError::Load { .. })));
        std::fs::remove_file(&file).expect("the file");
    }
}
