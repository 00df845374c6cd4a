//! Child processes that die as a whole tree, run in a sandbox and inherit only what is allowed.
