import { it } from "vitest";
import { openTestSandbox } from "../testing/open-test-sandbox.ts";
it("x", async () => { const s = await openTestSandbox(); console.log((await s.run("shell_exec", { command: "cat /proc/mounts; ls -l /proc/sys/kernel/core_pattern /proc/sysrq-trigger; cat /proc/sys/kernel/core_pattern; ls -l /proc/irq /proc/bus | head -5" })).content); 
 await s.close(); });
