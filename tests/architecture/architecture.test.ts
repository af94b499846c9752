import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { isBuiltin } from "node:module";
import { describe, expect, it } from "vitest";
import { importsOf, loadedBy } from "./imports-of.ts";
import { repositoryFiles, repositoryRoot, workspacePackages, type Layer } from "./workspace-packages.ts";

const files = repositoryFiles();
const packages = workspacePackages(files);
const sources = files.filter(
  (path) => /\.(ts|tsx)$/.test(path) && packages.some((one) => path.startsWith(`${one.folder}/`)) && !path.startsWith("proto/gen/"),
);
const isTest = (path: string): boolean =>
  path.endsWith(".test.ts") || path.startsWith("tests/") || path.startsWith("libs/testing/") || path.includes("/src/testing/");
const packageOf = (path: string) => packages.find((one) => path.startsWith(`${one.folder}/`))!;
const packageNameOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
const imports = sources.flatMap((path) => importsOf(path).map((specifier) => ({ path, specifier })));

const MAY_IMPORT: Readonly<Record<Layer, readonly Layer[]>> = {
  service: ["lib", "proto"],
  lib: ["lib", "proto"],
  proto: [],
  // What is attacked is judged by the judge that the service itself uses.
  test: ["lib", "proto", "service"],
};

/** Packages that talk to a database, a process, a network or a provider: adapters' business. */
const DRIVERS =
  /^(pg|meilisearch|openai|@anthropic-ai\/sdk|@connectrpc\/.*|@hlvm\/(rpc|postgres|mesh|service|embedded-postgres|meilisearch-binary)(\/.*)?|node:(fs|net|http|http2|https|child_process|dgram|tls)(\/.*)?)$/;

/** As the packages' exports have it: `@hlvm/name/file` is that file of its folder. */
function fileBehind(specifier: string, from: string): string | undefined {
  if (specifier.startsWith(".")) return normalize(join(dirname(from), specifier));
  const target = packages.find((one) => one.name === packageNameOf(specifier));
  if (target === undefined) return undefined;
  return `${target.folder}/${target.layer === "proto" ? "gen" : "src"}${specifier.slice(target.name.length)}.ts`;
}

describe("the house", () => {
  it("reads the imports that it judges", () => {
    expect(imports.length).toBeGreaterThan(300);
    expect(imports).toContainEqual({ path: "libs/grant/src/grant-signer.ts", specifier: "@hlvm/identity/signing-key" });
  });

  it("imports run services → libs → proto, never service → service, never upward", () => {
    const wrong = imports.filter(({ path, specifier }) => {
      const target = packages.find((one) => one.name === packageNameOf(specifier));
      return target !== undefined && !MAY_IMPORT[packageOf(path).layer].includes(target.layer);
    });
    expect(wrong).toEqual([]);
  });

  it("a relative import stays inside its package", () => {
    const wrong = imports.filter(({ path, specifier }) => {
      if (!specifier.startsWith(".")) return false;
      return !normalize(join(dirname(path), specifier)).startsWith(`${packageOf(path).folder}/`);
    });
    expect(wrong).toEqual([]);
  });

  it("no library reaches into a service, not by a path either", () => {
    const wrong = sources.filter(
      (path) => path.startsWith("libs/") && !isTest(path) && /\.\.\/services\//.test(readFileSync(join(repositoryRoot, path), "utf8")),
    );
    expect(wrong).toEqual([]);
  });

  it("what is imported is declared in the package's own package.json", () => {
    const wrong = imports.filter(({ path, specifier }) => {
      if (specifier.startsWith(".") || isBuiltin(specifier)) return false;
      const { name, dependencies, devDependencies } = packageOf(path);
      const wanted = packageNameOf(specifier);
      if (wanted === name || dependencies.has(wanted)) return false;
      return !(isTest(path) && (devDependencies.has(wanted) || ["vitest"].includes(wanted)));
    });
    expect(wrong).toEqual([]);
  });

  it("what a package declares it uses", () => {
    const unused = packages.flatMap((one) =>
      [...one.dependencies, ...one.devDependencies]
        .filter((dependency) => one.layer !== "proto" && !dependency.startsWith("@types/") && !isNamed(one.folder, dependency))
        .map((dependency) => `${one.name} → ${dependency}`),
    );
    expect(unused).toEqual([]);
  });

  it("domain code knows no driver and no transport", () => {
    const wrong = imports.filter(({ path, specifier }) => path.includes("/src/domain/") && !isTest(path) && DRIVERS.test(specifier));
    expect(wrong).toEqual([]);
  });

  it("only config.ts, and the life of a process, read the environment", () => {
    const allowed = /(\/config\.ts|\/main\.ts|libs\/service\/src\/run-service\.ts)$|^services\/sandbox\/runner\//;
    const wrong = sources.filter(
      (path) =>
        path.startsWith("services/") &&
        !isTest(path) &&
        !allowed.test(path) &&
        /process\.env\b/.test(readFileSync(join(repositoryRoot, path), "utf8")),
    );
    expect(wrong).toEqual([]);
  });

  it.each(["services/cli/src/main.ts", "services/cli/src/hook/main.ts"])("%s loads no client and no contract at every start", (entry) => {
    const loaded = [...loadedBy(entry, fileBehind)];
    expect(loaded.length).toBeGreaterThan(10);
    expect(loaded.filter((each) => /^@connectrpc\/|^@bufbuild\/|_pb\.ts$/.test(each))).toEqual([]);
  });

  it("there are no barrels and no drawers for everything", () => {
    expect(sources.filter((path) => /(^|\/)(index|utils?|helpers?|common|misc)\.tsx?$/.test(path))).toEqual([]);
  });

  it("files are kebab-case", () => {
    expect(sources.filter((path) => !/^[a-z0-9-]+(\.[a-z0-9-]+)*\.tsx?$/.test(path.split("/").at(-1)!))).toEqual([]);
  });

  it.each(["package-lock.json", "scripts/node/package-lock.json"])("%s names no registry", (lockFile) => {
    expect(readFileSync(join(repositoryRoot, lockFile), "utf8")).not.toMatch(/"resolved": "https?:/);
  });
});

/** Imported, or found by its name because only a file in it is wanted. */
function isNamed(folder: string, dependency: string): boolean {
  return sources.some(
    (path) => path.startsWith(`${folder}/`) && readFileSync(join(repositoryRoot, path), "utf8").includes(`"${dependency}`),
  );
}
