//! What a prebuild has to build.

use crate::captures::Captures;
use crate::exit::Failure;
use crate::prebuild::desk::mode_name;
use crate::prebuild::report::{Loss, LossKind, Summary};
use crate::workers::shard::Shard;
use crate::workers::wire::DeviceMode;
use standin::key::ExactKey;
use standin_archive::batch::second_hash;
use standin_archive::ledger::{Due, State};
use standin_archive::payload::ModuleKey;
use standin_archive::{Archive, Batch, Generation, Identity};
use standin_recipe::key::exact_executable_key;
use standin_recipe::{Module, Recipe};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// One pipeline of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Item {
    /// Its exact key.
    pub(crate) exact: ExactKey,
    /// What its blob is kept under.
    pub(crate) identity: Identity,
    /// The device it is for.
    pub(crate) mode: DeviceMode,
    /// Whether it must have a worker to itself: it took one down before.
    pub(crate) alone: bool,
}

/// Identity of a recipe's exact pipeline. The second hash is of the normal form, like the key,
/// so that what makes no difference to the pipeline makes none here.
pub(crate) fn identity(recipe: &Recipe) -> (ExactKey, Identity) {
    let exact = recipe.exact_key();
    let identity = Identity {
        key: exact_executable_key(exact),
        second: second_hash(&recipe.normalised().to_body().bytes),
    };
    (exact, identity)
}

/// Reads the captures: keeps their recipes in the archive, and returns the distinct pipelines
/// in the order in which they were recorded, those with use counts first.
pub(crate) fn read(
    captures: &Captures,
    shard: Shard,
    archive: &Archive,
    summary: &mut Summary,
) -> Result<Vec<Item>, Failure> {
    let uses: HashMap<ExactKey, u64> = archive.recipe_uses().into_iter().collect();
    let mut seen = HashSet::new();
    let mut stored: HashSet<Identity> = HashSet::new();
    let mut items = Vec::new();
    let mut batch = Batch::new();
    let damaged = captures.read(&mut |captured| {
        let recipe = match captured.recipe {
            Ok(recipe) => recipe,
            Err(loss) => {
                summary.lose_entry(loss);
                return Ok(());
            }
        };
        let (exact, identity) = identity(&recipe);
        if !shard.builds(exact) {
            return Ok(());
        }
        for mode in captured.modes {
            if seen.insert((identity, mode)) {
                items.push(Item {
                    exact,
                    identity,
                    mode,
                    alone: false,
                });
            }
        }
        if stored.insert(identity) && find(archive, exact, identity).is_none() {
            keep(&mut batch, exact, &recipe);
        }
        if batch.len() >= 1000 {
            commit(&mut batch, archive)?;
        }
        Ok(())
    })?;
    summary.damaged.extend(damaged);
    commit(&mut batch, archive)?;
    // Stable: without counts the recorded order stays.
    items.sort_by_key(|item| std::cmp::Reverse(uses.get(&item.exact).copied().unwrap_or(0)));
    summary.pipelines = items.len() as u64;
    Ok(items)
}

fn commit(batch: &mut Batch, archive: &Archive) -> Result<(), Failure> {
    batch
        .commit(archive)
        .map_err(|error| Failure::file(archive.folder(), error))
}

/// Adds a recipe and its modules to what is kept.
pub(crate) fn keep(batch: &mut Batch, exact: ExactKey, recipe: &Recipe) {
    let body = recipe.to_body();
    for module in &body.modules {
        batch.put_module(ModuleKey(module.key().to_u128()), module.to_bytes());
    }
    batch.put_recipe(exact, body.bytes, 0);
}

/// Leaves what is due; counts the rest.
pub(crate) fn due(
    items: Vec<Item>,
    archive: &Archive,
    generations: &[Generation],
    suspects: &[ExactKey],
    summary: &mut Summary,
) -> Vec<Item> {
    let mut due = Vec::new();
    for mut item in items {
        let generation = generations[item.mode.index()];
        if archive.has_blob(generation, item.identity) {
            summary.present += 1;
            continue;
        }
        let entry = archive.find_ledger(generation, mode_name(item.mode), item.identity);
        let Some(entry) = entry else {
            item.alone = suspects.contains(&item.exact);
            due.push(item);
            continue;
        };
        match (entry.due(), entry.state) {
            // Made once, and the blob is gone: built again.
            (_, State::Made) => due.push(item),
            (Due::BuildAlone, _) => {
                item.alone = true;
                due.push(item);
            }
            (Due::Skip, State::Declined(reason)) => {
                *summary.declined.entry(reason).or_default() += 1;
            }
            (Due::Skip, State::Failed(text)) => {
                let (kind, reason) = LossKind::parse(&text);
                summary.skipped.push(loss(&item, kind, reason));
            }
            (Due::Skip, State::InFlight) => {
                let reason = "the process ended while the driver was at it";
                summary.skipped.push(loss(&item, LossKind::Crash, reason));
            }
        }
    }
    due
}

fn loss(item: &Item, kind: LossKind, reason: &str) -> Loss {
    Loss {
        key: item.exact.to_string(),
        kind,
        reason: reason.to_owned(),
    }
}

/// The item's recipe as the archive has it, in the self-contained form.
pub(crate) fn load(archive: &Archive, item: &Item) -> Option<Vec<u8>> {
    find(archive, item.exact, item.identity).map(|recipe| recipe.to_bytes())
}

/// The recipe with this identity. Where keys collide, the second hash tells them apart.
pub(crate) fn find(archive: &Archive, exact: ExactKey, wanted: Identity) -> Option<Recipe> {
    let module = |key: standin_recipe::ModuleKey| {
        let bytes = archive.find_module(ModuleKey(key.to_u128()))?;
        Module::from_bytes(&bytes).ok().map(Arc::new)
    };
    archive
        .find_recipes(exact)
        .iter()
        .filter_map(|body| Recipe::from_body(body, module).ok())
        .find(|recipe| identity(recipe).1 == wanted)
}
