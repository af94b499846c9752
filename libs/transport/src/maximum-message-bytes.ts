/** Of one request or answer, on every way into and through the mesh. */
export const MAXIMUM_MESSAGE_BYTES = 16 * 1024 * 1024;
