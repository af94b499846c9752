/** Raised when a reader understands what it did not before: then every file is read once more, and what is new in it is imported. */
export const READER_VERSION = 1;
