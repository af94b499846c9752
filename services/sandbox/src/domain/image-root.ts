import { HlvmError } from "@hlvm/errors/hlvm-error";

/** An unpacked image that takes the place of the machine's programs for a session's commands. */
export interface ImageRoot {
  /** The folder that holds its tree, on this machine. */
  readonly path: string;
  /** What its commands find set. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where its files expect the workspace, a folder of its root: `/app`; empty where nowhere. */
  readonly directory: string;
}

/** The images that the operator has unpacked for sandboxes. */
export interface ImageRoots {
  /** @throws HlvmError `image_not_found`, `image_unusable` */
  readonly find: (image: string) => Promise<ImageRoot>;
}

export function imageNotFound(image: string): HlvmError {
  return new HlvmError({
    code: "not_found",
    reason: "image_not_found",
    message: `There is no image ${image} for sandboxes here.`,
    advice: "Have the operator unpack it into the folder of HLVM_SANDBOX_IMAGES; docs/images.md says how.",
  });
}
