import { drainTime } from "../until-stopped.ts";
import { type ServiceFacts, startCommand } from "./service-facts.ts";

/** Above the time that a fleet may take which lets its jobs come to their end. */
const stopSeconds = drainTime / 1_000 + 40;

/**
 * Only the fleet itself is told to stop (`KillMode=process`): runners go on, and the next fleet finds
 * them. What they start stays in the unit's own control group (`Delegate`). A configuration that is
 * wrong (2) or a fleet that runs already (3) does not get better by trying again.
 */
export function systemdUnit(facts: ServiceFacts): string {
  return `[Unit]
Description=herdctl fleet ${oneLine(facts.fleet)}
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
WorkingDirectory=${specifiers(facts.fleetDir)}
EnvironmentFile=${specifiers(facts.environmentFile)}
ExecStart=${startCommand(facts).map(quoted).join(" ")}
ExecReload=${[facts.node, facts.script, "reload", "--config", facts.fleetFile].map(quoted).join(" ")}
KillMode=process
Delegate=yes
TimeoutStopSec=${stopSeconds}
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2 3
UMask=0077
${hardening.join("\n")}

[Install]
WantedBy=default.target

${marker(facts.fleetFile)}
`;
}

/**
 * Only options that the systemd of an ordinary user can apply, and that leave agents on the host to
 * work: options that need a mount namespace would make it a user namespace as well, in which ssh, sudo
 * and git take every file of root for a stranger's. `PrivateTmp` would also hide the sockets of runners
 * that outlive the unit. Claude Code's sandbox needs namespaces, and its runtime writable code.
 */
const hardening = [
  "NoNewPrivileges=yes",
  "RestrictSUIDSGID=yes",
  "RestrictRealtime=yes",
  "LockPersonality=yes",
  "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
  "SystemCallArchitectures=native",
  "SystemCallFilter=~@clock @cpu-emulation @keyring @module @obsolete @raw-io @reboot @swap",
  "SystemCallFilter=~bpf io_uring_enter io_uring_register io_uring_setup userfaultfd",
  "SystemCallErrorNumber=EPERM",
  "KeyringMode=private",
  "LimitCORE=0",
];

/** Systemd passes over sections with this beginning; by it a unit is known as this fleet's. */
function marker(fleetFile: string): string {
  return `[X-Herdctl]\nFleet=${specifiers(fleetFile)}`;
}

export function isUnitOf(text: string, fleetFile: string): boolean {
  return text.includes(`${marker(fleetFile)}\n`);
}

function quoted(word: string): string {
  const escaped = word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("$", "$$$$");
  return `"${specifiers(escaped)}"`;
}

function specifiers(text: string): string {
  return oneLine(text).replaceAll("%", "%%");
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, " ");
}
