/** A file that begins like an image or a document and is none that a model could be given; the message says why. */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile";
}
