import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";

/** One line of a file of SWE-bench's, checked: every name in it comes from a stranger. */
export interface SwebenchInstance {
  readonly id: string;
  /** `owner/name`. */
  readonly repository: string;
  readonly commit: string;
  readonly problem: string;
  readonly solutionPatch: string;
  readonly testPatch: string;
  /** Those that must pass afterwards: what failed before, and what must go on passing. */
  readonly tests: readonly string[];
}

const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
const REPOSITORY = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\/[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;
const COMMIT = /^[0-9a-f]{40}$/;
/** Of a test's name, which becomes a word of a command. */
const TEST = /^[^-\p{Cc}][^\p{Cc}]{0,1999}$/u;
/** So many words fit one command. */
const MAXIMUM_TEST_BYTES = 1024 * 1024;

/**
 * Reads a file of instances, one JSON object a line.
 * @throws HlvmError `instances_not_readable`, which names the line
 */
export function readInstances(text: string): SwebenchInstance[] {
  const seen = new Set<string>();
  const instances = text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    try {
      const instance = instanceOf(JSON.parse(line));
      if (seen.has(instance.id)) throw new Error(`${instance.id} is there twice`);
      seen.add(instance.id);
      return [instance];
    } catch (cause) {
      throw notReadable(`Line ${index + 1} is no instance of SWE-bench: ${messageOf(cause)}.`, cause);
    }
  });
  if (instances.length === 0) throw notReadable("The file holds no instance.");
  return instances;
}

function instanceOf(value: unknown): SwebenchInstance {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("it is no object");
  const fields = value as Readonly<Record<string, unknown>>;
  const tests = [...testsOf(fields, "FAIL_TO_PASS"), ...testsOf(fields, "PASS_TO_PASS")];
  if (tests.length === 0) throw new Error("it names no test");
  if (tests.reduce((sum, test) => sum + Buffer.byteLength(test) + 3, 0) > MAXIMUM_TEST_BYTES)
    throw new Error("its tests have more than 1 MiB of names");
  return {
    id: matching(fields, "instance_id", ID),
    repository: matching(fields, "repo", REPOSITORY),
    commit: matching(fields, "base_commit", COMMIT),
    problem: text(fields, "problem_statement"),
    solutionPatch: text(fields, "patch"),
    testPatch: text(fields, "test_patch"),
    tests,
  };
}

function text(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name];
  if (typeof value !== "string" || value.trim() === "") throw new Error(`it has no ${name}`);
  return value;
}

function matching(fields: Readonly<Record<string, unknown>>, name: string, pattern: RegExp): string {
  const value = text(fields, name);
  if (!pattern.test(value)) throw new Error(`its ${name} is ${JSON.stringify(value.slice(0, 100))}`);
  return value;
}

/** A list, or the JSON of one, as both are found. */
function testsOf(fields: Readonly<Record<string, unknown>>, name: string): string[] {
  const given = fields[name] ?? [];
  const value: unknown = typeof given === "string" ? JSON.parse(given) : given;
  if (!Array.isArray(value)) throw new Error(`its ${name} is no list`);
  return value.map((test: unknown) => {
    if (typeof test !== "string" || !TEST.test(test)) throw new Error(`its ${name} names ${JSON.stringify(test)?.slice(0, 100)}`);
    return test;
  });
}

function notReadable(message: string, cause?: unknown): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "instances_not_readable",
    message,
    advice:
      "Give a file with one JSON object a line, each with instance_id, repo, base_commit, problem_statement, patch, test_patch, FAIL_TO_PASS and PASS_TO_PASS.",
    cause,
  });
}
