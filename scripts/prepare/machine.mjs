import { NotPrepared } from "./not-prepared.mjs";

const LEAST_NODE_TO_INSTALL_WITH = 20;

/** What of this machine decides whether HLVM can be installed on it. */
export function thisMachine() {
  process.report.excludeNetwork = true;
  return {
    platform: process.platform,
    architecture: process.arch,
    nodeVersion: process.versions.node,
    /** Undefined under musl, which Alpine has. */
    glibcVersion: process.report.getReport().header.glibcVersionRuntime,
  };
}

/**
 * @param {ReturnType<typeof thisMachine>} machine
 * @throws {NotPrepared} with one sentence about what there has to be instead
 */
export function requireMachine({ platform, architecture, nodeVersion, glibcVersion }) {
  if (platform !== "linux" || architecture !== "x64")
    throw new NotPrepared(`HLVM runs on Linux x64, and this is ${platform} ${architecture}: use a Linux machine, a virtual one, or WSL 2.`);
  if (Number.parseInt(nodeVersion) < LEAST_NODE_TO_INSTALL_WITH)
    throw new NotPrepared(
      `HLVM is installed with Node ${LEAST_NODE_TO_INSTALL_WITH} or newer, and this is Node ${nodeVersion}: get one from your distribution or https://nodejs.org/en/download.`,
    );
  if (glibcVersion === undefined)
    throw new NotPrepared(
      "HLVM runs on Linux with glibc, and this one has musl, as Alpine does: use Debian, Ubuntu, Fedora or another with glibc.",
    );
}
