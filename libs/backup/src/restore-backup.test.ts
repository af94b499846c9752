import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BackupWriter } from "./backup-writer.ts";
import type { BackupManifest } from "./manifest.ts";
import { restoreBackup, type RestoreOptions } from "./restore-backup.ts";

let place: string;
let source: string;
let folder: string;
let directory: string;

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "hlvm-backup-"));
  [source, folder, directory] = [join(place, "source"), join(place, "backup"), join(place, "hlvm")];
  mkdirSync(join(source, "deep", "empty"), { recursive: true });
  mkdirSync(join(source, "closed"), { mode: 0o500 });
  writeFileSync(join(source, "deep", "a"), "one", { mode: 0o640 });
  writeFileSync(join(source, "deep", "left-out"), "nothing");
  symlinkSync("/etc/passwd", join(source, "link"));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

async function back(): Promise<void> {
  const writer = await BackupWriter.create(folder);
  await writer.copy(source, "data", (path) => path.endsWith("left-out"));
  await writer.write("data/deep/b", Buffer.from("two"));
  await writer.copy(join(source, "missing"), "missing");
  expect(await writer.finish("18")).toMatchObject({ files: 2, bytes: 3 });
}

const restore = (more: Partial<RestoreOptions> = {}) => restoreBackup({ folder, directory, postgres: "18", replaces: false, ...more });
const reasonOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => "restored",
    (thrown: unknown) => (thrown instanceof HlvmError ? thrown.reason : String(thrown)),
  );
const manifestFile = (): string => join(folder, "manifest.json");
const changed = (change: (manifest: { -readonly [Field in keyof BackupManifest]: BackupManifest[Field] }) => void): void => {
  const manifest = JSON.parse(readFileSync(manifestFile(), "utf8")) as BackupManifest;
  change(manifest);
  writeFileSync(manifestFile(), JSON.stringify(manifest));
};

describe("a backup", () => {
  it("brings files, folders, links and their modes back, and is only its owner's", async () => {
    await back();
    await restore();
    const data = join(directory, "data");
    expect(readFileSync(join(data, "deep", "a"), "utf8") + readFileSync(join(data, "deep", "b"), "utf8")).toBe("onetwo");
    expect(statSync(join(data, "deep", "a")).mode & 0o777).toBe(0o640);
    expect(statSync(join(data, "closed")).mode & 0o777).toBe(0o500);
    expect(readdirSync(join(data, "deep", "empty"))).toEqual([]);
    expect(readlinkSync(join(data, "link"))).toBe("/etc/passwd");
    expect(existsSync(join(data, "deep", "left-out"))).toBe(false);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(directory)).toEqual(["data"]);
  });

  it("is never written over another, and is none before it is finished", async () => {
    await back();
    expect(await reasonOf(BackupWriter.create(folder))).toBe("backup_folder_taken");
    rmSync(manifestFile());
    expect(await reasonOf(restore())).toBe("no_backup");
  });

  it("puts what is there aside where that is wanted, and touches nothing where it is not", async () => {
    await back();
    mkdirSync(join(directory, "data"), { recursive: true });
    writeFileSync(join(directory, "data", "mine"), "kept");
    expect(await reasonOf(restore())).toBe("data_in_the_way");
    expect(readFileSync(join(directory, "data", "mine"), "utf8")).toBe("kept");
    const { replaced } = await restore({ replaces: true });
    expect(readFileSync(join(replaced, "data", "mine"), "utf8")).toBe("kept");
    expect(readFileSync(join(directory, "data", "deep", "a"), "utf8")).toBe("one");
  });

  it.each([
    ["a byte was changed", () => writeFileSync(join(folder, "hlvm/data/deep/a"), "onE")],
    ["a file has grown", () => writeFileSync(join(folder, "hlvm/data/deep/a"), "one and more")],
    ["a file is missing", () => rmSync(join(folder, "hlvm/data/deep/a"))],
    ["its manifest was cut", () => writeFileSync(manifestFile(), readFileSync(manifestFile(), "utf8").slice(0, -20))],
  ])("is refused where %s, and nothing was changed then", async (_what, damage) => {
    await back();
    damage();
    expect(await reasonOf(restore())).toBe("backup_damaged");
    expect(existsSync(directory) ? readdirSync(directory) : []).toEqual([]);
  });

  it.each(["../out", "/out", "data/../../out", "data/link/out", "data/none/out", "data//out", "."])(
    "is refused where it would write to %s",
    async (name) => {
      await back();
      changed((manifest) => {
        manifest.entries = { ...manifest.entries, [name]: { kind: "link", target: "/etc" } };
      });
      expect(await reasonOf(restore())).toBe("backup_damaged");
      expect(existsSync(join(place, "out"))).toBe(false);
    },
  );

  it("is refused where another PostgreSQL, machine or hlvm made it", async () => {
    await back();
    expect(await reasonOf(restore({ postgres: "19" }))).toBe("backup_of_another_kind");
    changed((manifest) => void (manifest.machine = "linux-other"));
    expect(await reasonOf(restore())).toBe("backup_of_another_kind");
    changed((manifest) => Object.assign(manifest, { format: 2 }));
    expect(await reasonOf(restore())).toBe("backup_of_another_kind");
  });
});
