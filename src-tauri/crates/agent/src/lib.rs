//! The loop: a pure step function and the driver that performs what it asks for.
