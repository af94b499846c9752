/** How long a mesh lives: until it is told to end, or as long as somebody holds it (see `holdMesh`). */
export const LIFETIMES = ["foreground", "while-held"] as const;
export type Lifetime = (typeof LIFETIMES)[number];
