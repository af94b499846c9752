import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runFiltered } from "../../testing/run-filtered.ts";
import { seccompFilter } from "./seccomp-filter.ts";

/** [program, what /bin/sh is told, what it writes]. What this machine lacks is left out; node and rg come with HLVM. */
const TOOLS: readonly (readonly [tool: string, command: string, output: string])[] = [
  [
    "node",
    `node -e '
      const { Worker } = require("worker_threads");
      const { execFileSync } = require("child_process");
      require("fs").watch(".").close();
      const server = require("http").createServer((_, answer) => answer.end("served")).listen(0, "127.0.0.1", async () => {
        const body = await (await fetch("http://127.0.0.1:" + server.address().port)).text();
        new Worker("require(\\"worker_threads\\").parentPort.postMessage(6 * 7)", { eval: true }).on("message", (message) => {
          console.log(body, message, String(execFileSync("echo", ["child"])).trim());
          process.exit();
        });
      });'`,
    "served 42 child\n",
  ],
  ["rg", "mkdir src && echo 'let needle = 1' > src/a.ts && rg --no-heading -n needle src", "src/a.ts:1:let needle = 1\n"],
  ["npm", "npm --version | grep -cE '^[0-9]+[.][0-9]+[.][0-9]+$'", "1\n"],
  ["npm", "npm init -y >/dev/null && npm pkg set scripts.hello='echo hello' && npm run --silent hello", "hello\n"],
  [
    "git",
    "git init -q . && echo a > a && git add a && git -c user.name=a -c user.email=a@b commit -qm first && git gc -q && git log --format=%s && git status --short",
    "first\n",
  ],
  [
    "python3",
    `/usr/bin/python3 -c '
import asyncio, multiprocessing, subprocess, tempfile, threading
async def main():
    child = await asyncio.create_subprocess_exec("echo", "child", stdout=subprocess.PIPE)
    return (await child.communicate())[0].decode().strip()
with tempfile.TemporaryDirectory(), multiprocessing.Pool(2) as pool:
    print(pool.map(abs, [-1, -2]), asyncio.run(main()))'`,
    "[1, 2] child\n",
  ],
  [
    "gcc",
    `printf '#include <stdio.h>\\nint main(void) { return puts("compiled") < 0; }\\n' > a.c && gcc -O2 -o a a.c && ./a`,
    "compiled\n",
  ],
  ["make", "printf 'a b:\\n\\t@echo $@\\n' > Makefile && make -s -j2 a b | sort", "a\nb\n"],
  [
    "tar",
    "mkdir in out && seq 1000 > in/a && ln -s a in/b && tar czpf a.tgz in && tar xzpf a.tgz -C out && readlink out/in/b && diff -r in out/in && echo same",
    "a\nsame\n",
  ],
  ["ssh-keygen", "ssh-keygen -q -t ed25519 -N '' -C me -f key && ssh-keygen -y -f key | cut -d ' ' -f 1,3", "ssh-ed25519 me\n"],
  ["sort", "seq 400000 -1 1 | sort -n -S 2M --parallel=2 | tail -n 1", "400000\n"],
  [
    "java",
    `printf 'class A { public static void main(String[] a) throws Exception { var t = new Thread(() -> System.out.println("ran")); t.start(); t.join(); } }' > A.java && java A.java`,
    "ran\n",
  ],
  ["perl", `perl -e 'if (fork) { wait; print "parent\\n" } else { $| = 1; print "child\\n" }'`, "child\nparent\n"],
  ["sqlite3", `sqlite3 a.db 'PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES (7); SELECT a FROM t'`, "wal\n7\n"],
  ["bash", 'bash -c \'diff <(seq 3) <(seq 3) && printf "%s\\n" {a..c} | xargs -P 2 -n 1 echo | sort | tr -d "\\n"\'', "abc"],
  ["find", "mkdir -p a/b && touch a/b/c && cp -a a d && chmod -R u+w d && mv d e && find e -type f && rm -r e", "e/b/c\n"],
  [
    "dd",
    "dd if=/dev/zero of=a bs=4096 count=4 conv=fsync status=none && sync && truncate -s 1M a && fallocate -l 4096 b && wc -c < a",
    "1048576\n",
  ],
  ["nice", "nice -n 5 timeout 5 setsid -w nohup echo ran 2>/dev/null", "ran\n"],
  ["flock", "flock lock mkfifo pipe && (echo through > pipe &) && cat pipe", "through\n"],
];

describe("under the filter", () => {
  const isThere = (tool: string): boolean =>
    tool === "node" || tool === "rg" || ["/usr/bin", "/bin"].some((folder) => existsSync(`${folder}/${tool}`));

  it.skipIf(process.arch !== "x64" && process.arch !== "arm64").each(TOOLS.filter(([tool]) => isThere(tool)))(
    "%s works",
    async (_, command, output) => {
      const run = await runFiltered(seccompFilter(process.arch as "x64" | "arm64"), command);
      expect(run).toEqual({ code: 0, output, errors: expect.any(String) });
    },
  );
});
