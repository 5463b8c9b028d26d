//! Fetching and unpacking packages of the machine's own distribution without installing
//! them: apt runs on a private state folder, so it needs no root and leaves the system's
//! packages as they are.

use crate::drivers::DriverError;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A private apt state: its own package lists, cache and source list.
pub(crate) struct Apt {
    root: PathBuf,
    backports: Option<String>,
}

/// A package that apt would install or upgrade to satisfy a request.
pub(crate) struct Needed {
    pub(crate) name: String,
    pub(crate) version: String,
}

impl Apt {
    /// Copies the machine's own sources into `root`, adds the backports suite where the
    /// machine runs Debian 12 and its sources lack it, and fetches the package lists.
    pub(crate) fn prepare(root: &Path) -> Result<Self, DriverError> {
        let parts = root.join("sources");
        for folder in ["sources", "lists/partial", "cache/archives/partial", "debs"] {
            fs::create_dir_all(root.join(folder)).map_err(DriverError::io(root))?;
        }
        let mut copied = 0;
        let system = Path::new("/etc/apt/sources.list.d");
        let listed = fs::read_dir(system).into_iter().flatten().flatten();
        let single = Path::new("/etc/apt/sources.list").to_path_buf();
        for file in listed.map(|entry| entry.path()).chain([single]) {
            let known = matches!(
                file.extension().and_then(|e| e.to_str()),
                Some("sources" | "list")
            );
            let (true, Some(name)) = (known, file.file_name()) else {
                continue;
            };
            // Third-party sources are left out: one that cannot be reached would stop the update.
            let Ok(text) = fs::read_to_string(&file) else {
                continue;
            };
            if !is_distribution(&text) {
                continue;
            }
            fs::write(parts.join(name), text).map_err(DriverError::io(&parts))?;
            copied += 1;
        }
        if copied == 0 {
            return Err(DriverError::Unsupported(
                "apt has no sources of Debian or Ubuntu itself".into(),
            ));
        }
        let backports = add_backports(&parts)?;
        let apt = Self {
            root: root.to_path_buf(),
            backports,
        };
        println!("  reading the package lists ({})", apt.suite());
        apt.run(apt.command("apt-get").arg("update"), "apt-get update")?;
        Ok(apt)
    }

    /// The suite that packages are taken from, in words.
    pub(crate) fn suite(&self) -> &str {
        self.backports
            .as_deref()
            .unwrap_or("the machine's own suite")
    }

    /// What installing `packages` would bring, newer versions of installed packages included.
    pub(crate) fn needed(&self, packages: &[&str]) -> Result<Vec<Needed>, DriverError> {
        let mut command = self.command("apt-get");
        command.args(["--simulate", "--no-install-recommends"]);
        // Also what is installed already: the folder holds all that it names.
        command.arg("--reinstall");
        if let Some(suite) = &self.backports {
            command.args(["--target-release", suite]);
        }
        command.arg("install").args(packages);
        let output = self.run(&mut command, "apt-get --simulate install")?;
        // Inst NAME [OLD] (VERSION ORIGIN [ARCH])
        let needed = output.lines().filter_map(|line| {
            let rest = line.strip_prefix("Inst ")?;
            let name = rest.split(' ').next()?;
            let version = rest.split_once('(')?.1.split(' ').next()?;
            Some(Needed {
                name: name.to_owned(),
                version: version.to_owned(),
            })
        });
        Ok(needed.collect())
    }

    /// Downloads the packages and unpacks each into `target`.
    pub(crate) fn unpack(&self, packages: &[Needed], target: &Path) -> Result<(), DriverError> {
        fs::create_dir_all(target).map_err(DriverError::io(target))?;
        let debs = self.root.join("debs");
        for (index, package) in packages.iter().enumerate() {
            println!(
                "  [{}/{}] {} {}",
                index + 1,
                packages.len(),
                package.name,
                package.version
            );
            for old in fs::read_dir(&debs).into_iter().flatten().flatten() {
                fs::remove_file(old.path()).map_err(DriverError::io(&debs))?;
            }
            let mut download = self.command("apt-get");
            download
                .current_dir(&debs)
                .arg("download")
                .arg(format!("{}={}", package.name, package.version));
            self.run(&mut download, "apt-get download")?;
            for deb in fs::read_dir(&debs).into_iter().flatten().flatten() {
                let mut extract = Command::new("dpkg-deb");
                extract.arg("--extract").arg(deb.path()).arg(target);
                self.run(&mut extract, "dpkg-deb --extract")?;
                fs::remove_file(deb.path()).map_err(DriverError::io(&debs))?;
            }
        }
        Ok(())
    }

    /// The version that apt would take of a package, or none where it is not to be had.
    pub(crate) fn candidate(&self, package: &str) -> Option<Needed> {
        let mut command = self.command("apt-cache");
        command.args(["policy", package]);
        let output = self.run(&mut command, "apt-cache policy").ok()?;
        let version = output
            .lines()
            .find_map(|line| line.trim().strip_prefix("Candidate: "))?;
        (version != "(none)").then(|| Needed {
            name: package.to_owned(),
            version: version.to_owned(),
        })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let folder = |name: &str| self.root.join(name).display().to_string();
        command.env("LC_ALL", "C");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        for option in [
            format!("Dir::State::Lists={}", folder("lists")),
            format!("Dir::Cache={}", folder("cache")),
            format!("Dir::Etc::sourceparts={}", folder("sources")),
            "Dir::Etc::sourcelist=/dev/null".into(),
            "Debug::NoLocking=1".into(),
            "APT::Sandbox::User=root".into(),
            "Acquire::Retries=3".into(),
        ] {
            command.arg("-o").arg(option);
        }
        command
    }

    fn run(&self, command: &mut Command, what: &str) -> Result<String, DriverError> {
        let output = command.output().map_err(|source| DriverError::Tool {
            tool: what.to_owned(),
            message: source.to_string(),
        })?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(DriverError::Tool {
            tool: what.to_owned(),
            message: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        })
    }
}

fn is_distribution(text: &str) -> bool {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'))
        .any(|line| {
            let is_source = line.starts_with("deb ") || line.starts_with("Suites:");
            let suites = ["bookworm", "trixie", "forky", "noble", "plucky", "questing"];
            is_source
                && suites.iter().any(|suite| {
                    line.split_whitespace()
                        .any(|word| word == *suite || word == format!("{suite}-updates"))
                })
        })
}

/// Debian 12's own Mesa is 22.3; its backports suite has 25. Adds that suite, served from
/// wherever the machine gets its updates suite.
fn add_backports(parts: &Path) -> Result<Option<String>, DriverError> {
    const SUITE: &str = "bookworm-backports";
    for entry in fs::read_dir(parts).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        if text.contains(SUITE) {
            return Ok(Some(SUITE.into()));
        }
        let mut added = String::new();
        for stanza in text.split("\n\n") {
            if stanza.contains("bookworm-updates") && stanza.contains("Suites:") {
                for line in stanza.lines() {
                    let line = if line.starts_with("Suites:") {
                        "Suites: bookworm-backports"
                    } else {
                        line
                    };
                    added.push_str(line);
                    added.push('\n');
                }
            }
        }
        for line in text.lines().filter(|line| line.starts_with("deb ")) {
            if line.contains(" bookworm-updates ") {
                added.push_str(&line.replace(" bookworm-updates ", " bookworm-backports "));
                added.push('\n');
            }
        }
        if !added.is_empty() {
            fs::write(&path, format!("{text}\n\n{added}")).map_err(DriverError::io(&path))?;
            return Ok(Some(SUITE.into()));
        }
    }
    Ok(None)
}
