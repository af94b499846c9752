import type { Isolation } from "../domain/isolation.ts";

export function describeIsolation(isolation: Isolation) {
  const { driver, driverVersion, features } = isolation.describe();
  return { driver, driverVersion, features: features.map(({ name, isActive, detail }) => ({ name, active: isActive, detail })) };
}
