//! Composition and use cases: settings, runs, approvals, runner, guard, diagnostics.
