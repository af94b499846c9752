import type { CommandRule } from "./command-rule.ts";
import { isWorkspacePath } from "./workspace-path.ts";

const workspace = { level: "L1", operand: isWorkspacePath } as const;

/**
 * Programs that change single files as write_file does, and are L1 as it is: below the workspace by relative paths, and
 * nothing that other programs obey. Left out on purpose: links, other folders as a flag's value (`cp -t`), and whatever may
 * bring a whole tree into place, in which anything may lie: recursion, and `mv`, whose operand may be a folder.
 */
export const writingRules: Readonly<Record<string, CommandRule>> = {
  mkdir: { ...workspace, flags: "pv", longFlags: ["parents", "verbose"], minimumOperands: 1 },
  touch: { ...workspace, flags: "acm", valueFlags: "dt", longFlags: ["no-create"], longValueFlags: ["date"], minimumOperands: 1 },
  cp: { ...workspace, flags: "finpuv", longFlags: ["force", "no-clobber", "verbose"], minimumOperands: 2 },
  rmdir: { ...workspace, flags: "pv", minimumOperands: 1 },
  tee: { ...workspace, flags: "ai", longFlags: ["append"] },
  chmod: {
    level: "L1",
    minimumOperands: 2,
    operand: (word, index) => (index === 0 ? /^[ugoa]*[+-][rwxX]+$/.test(word) : isWorkspacePath(word)),
  },
};
