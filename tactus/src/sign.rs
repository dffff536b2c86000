//! `tactus sign`: signatures of images for managers that start no others.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use ed25519_dalek::pkcs8::DecodePrivateKey;
use ed25519_dalek::{Signer, SigningKey};
use tactus_management::{Encoded, ImageSignature, sign_entry, sign_title, sign_write};

use crate::cli::SignArguments;
use crate::ctl;
use crate::guest_image::GuestImage;
use crate::problem::io_reason;

/// Carries the command out; the exit code is as `--help` says.
pub fn command(arguments: &SignArguments) -> ExitCode {
    match carry_out(arguments) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::from(2)
        }
    }
}

/// What is printed then.
fn carry_out(arguments: &SignArguments) -> Result<String, String> {
    let key = read_key(&arguments.key)?;
    let (Some(vm), Some(image)) = (&arguments.vm, &arguments.image) else {
        return Ok(public(&key));
    };
    let image = ctl::read_image(image)?;
    Ok(sign(&key, vm, &image).to_string())
}

/// Reads a private key of Ed25519 from a PEM file (RFC 8410), as `openssl genpkey -algorithm ed25519` writes it.
fn read_key(path: &Path) -> Result<SigningKey, String> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .map_err(|error| format!("{shown} cannot be read: {}", io_reason(&error)))?;
    SigningKey::from_pkcs8_pem(&text).map_err(|error| {
        format!(
            "{shown} is no private key of Ed25519 in PEM: {error}; `openssl genpkey -algorithm ed25519 -out {shown}` \
             makes one"
        )
    })
}

/// What a manager checks the key's signatures with.
fn public(key: &SigningKey) -> String {
    Encoded(key.verifying_key().as_bytes()).to_string()
}

/// The signature of an image for a VM.
fn sign(key: &SigningKey, vm: &str, image: &GuestImage) -> ImageSignature {
    let mut message = Vec::new();
    let mut part = |bytes: &[u8]| message.extend_from_slice(bytes);
    sign_title(vm, &mut part);
    for (address, bytes) in ctl::link::writes(image) {
        sign_write(address, bytes, &mut part);
    }
    sign_entry(image.entry, &mut part);
    ImageSignature::of(key.sign(&message).to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest_image::Segment;
    use tactus_management::Key;

    /// RFC 8032, section 7.1, test 2.
    const SECRET: [u8; 32] = [
        0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3, 0x46, 0xec, 0x11, 0x4e,
        0x0f, 0x5b, 0x8a, 0x31, 0x9f, 0x35, 0xab, 0xa6, 0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8,
        0xa6, 0xfb,
    ];

    fn image() -> GuestImage {
        let mut bytes = vec![0; 3000];
        bytes[7] = 1;
        bytes[2999] = 2;
        GuestImage {
            format: "raw image",
            entry: 0x8020_0000,
            segments: vec![
                Segment {
                    guest: 0x8020_0000,
                    bytes,
                    memory_size: 4096,
                },
                Segment {
                    guest: 0x8030_0000,
                    bytes: vec![3; 5],
                    memory_size: 5,
                },
            ],
        }
    }

    /// What a manager makes of an image that it gets under a signature.
    fn is_taken(key: &Key, signature: &ImageSignature, vm: &str, image: &GuestImage) -> bool {
        let Some(mut check) = key.begin(vm, signature) else {
            return false;
        };
        for (address, bytes) in ctl::link::writes(image) {
            check.written(address, bytes);
        }
        check.ends_well(image.entry)
    }

    #[test]
    fn a_signature_is_of_one_image_for_one_vm() {
        let key = SigningKey::from_bytes(&SECRET);
        let public = Key::parse(&public(&key)).expect("it is a key");
        let good = image();
        let signature = sign(&key, "control", &good);
        assert!(is_taken(&public, &signature, "control", &good));
        assert!(!is_taken(&public, &signature, "contro", &good));
        assert!(!is_taken(&public, &signature, "other", &good));
        let mut others = Vec::new();
        let mut changed = |change: &dyn Fn(&mut GuestImage)| {
            let mut image = image();
            change(&mut image);
            others.push(image);
        };
        changed(&|image| image.entry += 2);
        changed(&|image| image.segments[0].bytes[7] = 2);
        changed(&|image| image.segments[0].guest += 2);
        changed(&|image| image.segments[1].bytes[0] = 0);
        changed(&|image| image.segments[1].bytes.truncate(4));
        changed(&|image| image.segments.truncate(1));
        changed(&|image| image.segments.swap(0, 1));
        for other in &others {
            assert!(
                !is_taken(&public, &signature, "control", other),
                "{other:?}"
            );
        }
        let another = SigningKey::from_bytes(&[7; 32]);
        let another = Key::parse(&super::public(&another)).expect("it is a key");
        assert!(!is_taken(&another, &signature, "control", &good));
        // Each byte of it counts.
        let text = signature.to_string();
        let mut bytes = [0; 64];
        assert_eq!(tactus_management::decode(&text, &mut bytes), Some(64));
        for byte in 0..64 {
            let mut bytes = bytes;
            bytes[byte] ^= 1 << (byte % 8);
            let forged = ImageSignature::of(bytes);
            assert!(!is_taken(&public, &forged, "control", &good), "byte {byte}");
        }
    }

    #[test]
    fn a_key_is_what_openssl_writes() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let file = folder.path().join("key.pem");
        // The key of RFC 8410, section 10.3.
        let pem = "-----BEGIN PRIVATE KEY-----\n\
                   MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
                   -----END PRIVATE KEY-----\n";
        fs::write(&file, pem).expect("it can be written");
        let key = read_key(&file).expect("it is a key");
        assert_eq!(public(&key), "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=");
        fs::write(&file, pem.replace("VwBCIE", "VwBCIF")).expect("it can be written");
        let reason = read_key(&file).expect_err("it is none");
        assert!(reason.contains("is no private key of Ed25519"), "{reason}");
        let reason = read_key(&folder.path().join("none.pem")).expect_err("there is none");
        assert!(reason.contains("none.pem cannot be read"), "{reason}");
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let weak = [
            1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0,
        ];
        for text in [
            "",
            "abc",
            "AAAA",
            &Encoded(&weak).to_string(),
            &Encoded(&[2; 32]).to_string(),
        ] {
            assert!(Key::parse(text).is_err(), "{text}");
        }
    }
}
