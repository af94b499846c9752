/** What Cedar is asked about. Validated strictly: a policy that could err at a question is none that this service starts with. */
export const SCHEMA = `
namespace HLVM {
  entity Organization = { fourEyes: Set<String> };
  entity Role;
  entity Team;
  entity User in [Role, Team] = { organization: Organization };
  entity Session = {
    organization: Organization,
    viewers: Set<User>, viewingTeams: Set<Team>, everybodyViews: Bool,
    drivers: Set<User>, drivingTeams: Set<Team>, everybodyDrives: Bool,
  };
  action run_tools, set_budgets, manage_teams, manage_members, read_audit appliesTo { principal: User, resource: Organization };
  action answer_approvals appliesTo { principal: User, resource: Organization, context: { isOwn: Bool, level: String } };
  action view_workspace, drive_workspace appliesTo { principal: User, resource: Session };
}`;

/** By name, which is what a decision's reason names. */
export const POLICIES: Readonly<Record<string, string>> = {
  developers: `
    permit (principal in HLVM::Role::"developer", action == HLVM::Action::"run_tools", resource)
    when { principal.organization == resource };`,
  approvers: `
    permit (principal in HLVM::Role::"approver", action == HLVM::Action::"answer_approvals", resource)
    when { principal.organization == resource };`,
  auditors: `
    permit (principal in HLVM::Role::"security-auditor", action == HLVM::Action::"read_audit", resource)
    when { principal.organization == resource };`,
  administrators: `
    permit (principal in HLVM::Role::"admin", action, resource is HLVM::Organization)
    when { principal.organization == resource };`,
  "four-eyes": `
    forbid (principal, action == HLVM::Action::"answer_approvals", resource)
    when { context.isOwn && resource.fourEyes.contains(context.level) };`,
  viewers: `
    permit (principal, action == HLVM::Action::"view_workspace", resource)
    when {
      principal.organization == resource.organization
      && (resource.everybodyViews || resource.viewers.contains(principal) || principal in resource.viewingTeams)
    };`,
  drivers: `
    permit (principal, action in [HLVM::Action::"view_workspace", HLVM::Action::"drive_workspace"], resource)
    when {
      principal.organization == resource.organization
      && (resource.everybodyDrives || resource.drivers.contains(principal) || principal in resource.drivingTeams)
    };`,
};
