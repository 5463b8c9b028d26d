//! Which way a draw got its executable, and why that way.

macro_rules! counted {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every value, in the order of its number in a trace.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];
            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// Its name in logs and reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The value with this number.
            #[must_use]
            pub fn from_number(number: u8) -> Option<Self> {
                Self::ALL.get(usize::from(number)).copied()
            }
        }
    };
}
pub(crate) use counted;

counted! {
    /// The way a draw got its executable.
    Route {
        /// The state has not changed since this stream's last draw.
        Unchanged = "unchanged",
        /// The exact pipeline was adopted.
        Exact = "exact",
        /// Exact state, linked without optimisation from parts in memory.
        Linked = "linked",
        /// A family's pipeline was adopted.
        StandIn = "stand-in",
        /// The exact pipeline or a stand-in came from the archive on the draw's path.
        Loaded = "loaded",
        /// The draw waited for a build, or built for itself.
        Waited = "waited",
        /// Nothing is drawn.
        Skipped = "skipped",
    }
}

counted! {
    /// Why a draw went this way.
    Reason {
        /// Epochs equal.
        StateUnchanged = "state unchanged",
        /// The exact pipeline is complete.
        ExactReady = "exact pipeline ready",
        /// Linked on this draw.
        PartsInMemory = "parts in memory",
        /// Linked by an earlier draw.
        LinkedBefore = "linked before",
        /// Stand-in: this draw submitted the exact pipeline's build.
        PromotionSubmitted = "promotion submitted",
        /// Stand-in: the exact pipeline is being built.
        PromotionPending = "promotion pending",
        /// Stand-in: the queue is full, the next try is not due.
        QueueFull = "queue full",
        /// Stand-in: the last build failed, the next try is not due.
        FailedBackoff = "failed, not due",
        /// Stand-in for good: the exact pipeline cannot be built.
        FailedPermanent = "failed for good",
        /// Stand-in: the exact pipeline is in the archive and is being loaded in the background.
        LoadPending = "load pending",
        /// Loaded: the archive has the exact pipeline.
        ExactArchived = "exact pipeline archived",
        /// Loaded: the archive has a stand-in.
        StandInArchived = "stand-in archived",
        /// Uncovered: no family admits the recipe.
        NoFamilyAdmits = "no family admits it",
        /// Uncovered: a family would do, but its pipeline is not built yet.
        StandInNotBuilt = "stand-in not built",
        /// Uncovered: every admitted family's pipeline failed to build.
        StandInFailed = "stand-in failed",
        /// Uncovered: stand-ins exist but this stream cannot feed them.
        ResourcesUnavailable = "resources unavailable",
        /// Skipped: the exact pipeline cannot be built and nothing stands in.
        ExactFailed = "exact pipeline failed",
        /// Skipped: the wait reached its limit.
        WaitLimit = "wait limit reached",
        /// Skipped: the device is lost.
        DeviceLost = "device lost",
        /// Skipped: the handle names a pipeline that was released or evicted.
        StaleHandle = "stale handle",
        /// The runtime is off: built synchronously.
        RuntimeOff = "runtime off",
        /// Stand-in: the settings force its family.
        FamilyForced = "family forced",
    }
}

counted! {
    /// How a waiting draw got its pipeline.
    Waiting {
        /// No build existed; the draw began one.
        BuiltHere = "built here",
        /// A build was queued; the draw took it.
        Taken = "taken from the queue",
        /// A build was running; the draw waited for its end.
        ForRunning = "waited for a running build",
        /// A build had finished and was not adopted yet.
        Finished = "finished, not adopted",
        /// The policy said to build on this thread whatever else runs.
        Inline = "inline",
    }
}

counted! {
    /// How prepared the runtime was for the first draw of an exact key and generation.
    FirstDemand {
        /// The draw could run at once, on whatever route.
        Ready = "ready",
        /// Nothing had been started.
        Missed = "missed",
        /// A build or load was under way.
        TooLate = "too late",
        /// No family admits the recipe, and its own pipeline was not there.
        Unsupported = "unsupported",
        /// A stand-in was there, but the stream had to roll its resources over first.
        ResourceWait = "resource wait",
    }
}

/// What to do with a draw that nothing covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FirstDraw {
    /// Wait for the exact pipeline: take its build if nobody started it, else wait for the
    /// one that runs. The picture is always right.
    #[default]
    Wait,
    /// Draw nothing and build in the background. Only for draws that are repeated every frame.
    Skip,
    /// Build on this thread, even if a worker is already at it: never waits for a queue.
    Inline,
}
