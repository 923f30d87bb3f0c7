//! Tests of outputs.

use std::fs::{self, File};
use std::io::{self, Write};

use super::*;

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let text = |text: &'static str| move |mut file: &File| file.write_all(text.as_bytes());
    write(&path, |error| error, text("one")).unwrap();
    let failed = write(&path, |error| error, |file| text("two")(file).and(Err(io::Error::other("no more"))));
    assert_eq!(failed.unwrap_err().to_string(), "no more");
    assert_eq!(fs::read(&path).unwrap(), b"one");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    write(&path, |error| error, text("three")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"three");
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("real"), folder.path().join("link"));
    symlink(&path, &link).unwrap();
    let text = |text: &'static str| move |mut file: &File| file.write_all(text.as_bytes());
    let dangling = write(&link, |error| error, text("one")).unwrap_err();
    assert!(dangling.to_string().contains("a link that leads to nothing") && !path.exists());
    fs::write(&path, "one").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    write(&link, |error| error, text("two")).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn temporary_folders_are_removed_whatever_their_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let stage = temporary::Folder::beside(&folder.path().join("out")).unwrap();
    let locked = stage.path().join("locked");
    fs::create_dir_all(locked.join("inner")).unwrap();
    fs::write(locked.join("inner/text"), "").unwrap();
    for path in [locked.join("inner"), locked] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o500)).unwrap();
    }
    drop(stage);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn folders_are_exchanged_or_moved_in_two_steps() {
    let folder = tempfile::tempdir().unwrap();
    let [new, target, old] = ["new", "target", "old"].map(|name| folder.path().join(name));
    for text in ["first", "second"] {
        fs::create_dir(&new).unwrap();
        fs::write(new.join("text"), text).unwrap();
        sync(&new).unwrap();
        replace_folder(&new, &target, &old).unwrap();
        assert_eq!(fs::read_to_string(target.join("text")).unwrap(), text);
    }
    let left = if new.exists() { new } else { old };
    assert_eq!(fs::read_to_string(left.join("text")).unwrap(), "first");
}
