import { drainTimeoutMs } from "../stop-and-wait.ts";
import { type ServiceSpec, serviceStartCommand } from "./service-spec.ts";

/** Longer than a stopping fleet waits for its jobs. */
const stopTimeoutSeconds = drainTimeoutMs / 1_000 + 40;

/**
 * `KillMode=process` stops only the fleet process: runners continue, and the next fleet adopts them.
 * `Delegate` keeps their processes in the control group of the unit. Exit codes 2 (invalid
 * configuration) and 3 (fleet already running) are not fixed by a restart.
 */
export function renderSystemdUnit(spec: ServiceSpec): string {
  return `[Unit]
Description=herdctl fleet ${toOneLine(spec.fleet)}
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
WorkingDirectory=${escapeSpecifiers(spec.fleetDir)}
EnvironmentFile=${escapeSpecifiers(spec.environmentFile)}
ExecStart=${serviceStartCommand(spec).map(quoteArgument).join(" ")}
ExecReload=${[spec.nodePath, spec.scriptPath, "reload", "--config", spec.fleetFile].map(quoteArgument).join(" ")}
KillMode=process
Delegate=yes
TimeoutStopSec=${stopTimeoutSeconds}
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2 3
UMask=0077
${hardeningOptions.join("\n")}

[Install]
WantedBy=default.target

${fleetMarker(spec.fleetFile)}
`;
}

/**
 * Only options that a user's systemd can apply and that do not break agents on the host. Options
 * that need a mount namespace would also create a user namespace, in which ssh, sudo and git reject
 * files of root because of their owner. `PrivateTmp` would hide the sockets of runners that outlive
 * the unit. Claude Code needs namespaces for its sandbox, and writable code pages for its runtime.
 */
const hardeningOptions = [
  // defence: service-no-new-privileges
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

/** Marks the unit as this fleet's. systemd ignores sections that begin with `X-`. */
function fleetMarker(fleetFile: string): string {
  return `[X-Herdctl]\nFleet=${escapeSpecifiers(fleetFile)}`;
}

export function isFleetUnit(text: string, fleetFile: string): boolean {
  return text.includes(`${fleetMarker(fleetFile)}\n`);
}

function quoteArgument(word: string): string {
  const escaped = word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("$", "$$$$");
  return `"${escapeSpecifiers(escaped)}"`;
}

function escapeSpecifiers(text: string): string {
  return toOneLine(text).replaceAll("%", "%%");
}

function toOneLine(text: string): string {
  return text.replace(/[\r\n]+/g, " ");
}
