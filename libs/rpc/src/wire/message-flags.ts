/** The flags of an envelope with a message, uncompressed. */
export const MESSAGE_FLAGS = 0;
