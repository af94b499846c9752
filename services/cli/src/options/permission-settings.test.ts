import { describe, expect, it } from "vitest";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { permissionSettings, type PermissionFlags } from "./permission-settings.ts";

describe("permissionSettings", () => {
  it.each<[PermissionFlags, PermissionMode]>([
    [{}, PermissionMode.DEFAULT],
    [{ print: true }, PermissionMode.DONT_ASK],
    [{ print: true, permissionMode: "acceptEdits" }, PermissionMode.ACCEPT_EDITS],
    [{ permissionMode: "plan" }, PermissionMode.PLAN],
    [{ autoEdit: true }, PermissionMode.ACCEPT_EDITS],
    [{ autoEdit: true, permissionMode: "acceptEdits" }, PermissionMode.ACCEPT_EDITS],
    [{ dangerouslySkipPermissions: true }, PermissionMode.BYPASS_PERMISSIONS],
  ])("%j", (flags, mode) => {
    expect(permissionSettings(flags, false).mode).toBe(mode);
  });

  it("refuses two modes at once", () => {
    expect(() => permissionSettings({ autoEdit: true, dangerouslySkipPermissions: true }, false)).toThrow("acceptEdits, bypassPermissions");
  });

  it("hands on the lists, and whether somebody can be asked", () => {
    expect(permissionSettings({ allowedTools: ["git_*"], disallowedTools: ["shell_exec"] }, true)).toEqual({
      mode: PermissionMode.DEFAULT,
      allowedTools: ["git_*"],
      disallowedTools: ["shell_exec"],
      canAsk: true,
    });
  });
});
