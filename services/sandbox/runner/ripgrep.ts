/** The ripgrep that comes with the service, whatever the machine has. */
export const RIPGREP = "/opt/hlvm/bin/rg";
