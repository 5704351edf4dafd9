//! Secrets in text: finding them, naming them without showing them, masking them. Pure.
