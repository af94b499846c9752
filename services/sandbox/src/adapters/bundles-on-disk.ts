import { readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { imageNotFound, type ImageRoot, type ImageRoots } from "../domain/image-root.ts";

const MAXIMUM_VALUE_LENGTH = 32_768;
/** These say what the sandbox is, whatever an image says: whoever runs it has no other home and no terminal. */
const OWN = new Set(["HOME", "USER", "TERM", "HOSTNAME", "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "PS4"]);
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s;
/** Below it nothing is mounted, so a link there leads nowhere. */
const TOP_FOLDER = /^\/[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Images as bundles of the Open Container Initiative, each a folder with `rootfs` and `config.json`, as `umoci unpack` makes them. */
export class BundlesOnDisk implements ImageRoots {
  readonly #directory: string;

  /** @param directory empty: there are no images */
  constructor(directory: string) {
    this.#directory = directory;
  }

  async find(image: string): Promise<ImageRoot> {
    if (this.#directory === "") throw imageNotFound(image);
    const bundle = join(this.#directory, bundleName(image));
    const path = await realpath(join(bundle, "rootfs")).catch(() => undefined);
    if (path === undefined || !(await stat(path)).isDirectory()) throw imageNotFound(image);
    return { path, ...(await readConfig(image, join(bundle, "config.json"))) };
  }
}

/** The folder of an image: what no file's name should have becomes `_`. */
export function bundleName(image: string): string {
  return image.replaceAll(/[^A-Za-z0-9._-]/g, "_").replace(/^\.+/, "_");
}

async function readConfig(image: string, file: string): Promise<Pick<ImageRoot, "environment" | "directory">> {
  try {
    const { process: { env, cwd } = {} } = JSON.parse(await readFile(file, "utf8")) as { process?: { env?: unknown; cwd?: unknown } };
    const given = Array.isArray(env) ? env.map(String) : [];
    const directory = typeof cwd === "string" && TOP_FOLDER.test(cwd) ? cwd : "";
    return { environment: Object.fromEntries(given.flatMap(variable)), directory };
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "image_unusable",
      message: `The config.json of the image ${image} cannot be read.`,
      advice: "Have the operator unpack the image anew; docs/images.md says how.",
      cause,
    });
  }
}

function variable(text: string): [string, string][] {
  const [, name = "", value = ""] = VARIABLE.exec(text) ?? [];
  return name === "" || OWN.has(name) || value.includes("\0") || value.length > MAXIMUM_VALUE_LENGTH ? [] : [[name, value]];
}
