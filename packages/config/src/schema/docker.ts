import { z } from "zod";
import { checkedText, checkedValue, InvalidValue, textCodec } from "./codec.ts";
import { size } from "./quantities.ts";
import { stringMap } from "./strings.ts";
import {
  block,
  fleetOnly,
  free,
  isAtLeast,
  isAtMost,
  isAtMostOr,
  isEmptyList,
  isEqual,
  isSubset,
  keepsValue,
  noWeakerInOrder,
  stricter,
} from "./trust.ts";

const egressPresets = ["npm", "github", "pypi", "debian"] as const;
const networks = ["none", "bridge", "host"] as const;
const authModes = ["gateway", "env", "mount"] as const;
/** Features of the API that do more than answer the agent's prompts. */
const apiFeatures = [
  "web_search",
  "web_fetch",
  "code_execution",
  "mcp",
  "urls",
  "files",
  "unknown",
] as const;

const forbiddenTargets = ["/", "/proc", "/sys", "/dev", "/etc"];
const volumeHint =
  "Write `source:/target` or `source:/target:ro`, such as `./cache:/cache:rw`, or `cache:/cache:rw` for a volume of the engine.";

const volumeSchema = z.object({
  /** A path of the host, or the name of a volume of the engine. */
  source: z.string(),
  target: z.string(),
  mode: z.enum(["ro", "rw"]),
});

/** `source:/target[:ro|rw]`; the default is `ro`. */
const volume = textCodec(volumeSchema, parseVolume, formatVolume, ["./cache:/cache:rw"]);

export type Volume = z.output<typeof volumeSchema>;

/** Whether the engine keeps the volume; otherwise it is a path of the host. */
export function isNamedVolume({ source }: Pick<Volume, "source">): boolean {
  return /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/.test(source);
}

const hostnamePattern =
  /^(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?(:\d{1,5})?$/i;

const egressHost = checkedText((text) => (isEgressHost(text) ? undefined : invalidHost(text)));

/**
 * A bare word must be a preset. As a host name it could only be on a private network, which needs
 * an `address`.
 */
const egressName = checkedText((text) => {
  if (!isEgressHost(text)) return invalidHost(text);
  if (text.includes(".") || egressPresets.some((preset) => preset === text)) return undefined;
  return new InvalidValue(
    `"${text}" is not a preset`,
    `Write a preset (${egressPresets.join(", ")}) or a full host name. For a host on a private network, write \`{host: ${text}, address: 10.0.0.5}\`.`,
  );
});

const address = checkedText((text) =>
  z.union([z.ipv4(), z.ipv6()]).safeParse(text).success
    ? undefined
    : new InvalidValue(`"${text}" is not an IP address`, "Write the IP address of the host."),
);

const absolutePath = checkedText((text) =>
  isNormalizedAbsolutePath(text) && !forbiddenTargets.includes(text)
    ? undefined
    : new InvalidValue(
        `"${text}" cannot be mounted`,
        "Write an absolute path in the container, such as `/var/tmp`.",
      ),
);

const user = checkedText((text) => {
  const match = /^(\d+)(:\d+)?$/.exec(text);
  if (match && Number(match[1]) > 0) return undefined;
  return new InvalidValue(
    `"${text}" is not a user for a container`,
    "Write a numeric user other than root: `1000` or `1000:1000`.",
  );
});

const image = checkedText((text) =>
  /^[a-z0-9][\w.\-/:@]*$/i.test(text)
    ? undefined
    : new InvalidValue(
        `"${text}" is not an image name`,
        "Write `name:tag`, such as `herdctl/agent:latest`.",
      ),
);

const branch = checkedText((text) =>
  /^(?![-./])[\w./+-]{1,200}$/.test(text) && !/\.\.|\/\/|\/\.|[./]$|\.lock(\/|$)/.test(text)
    ? undefined
    : new InvalidValue(`"${text}" is not a branch name`, "Write a branch such as `agents/docs`."),
);

const egressObject = block({
  host: free(egressHost.describe("Host to open in the gateway.")),
  address: free(
    address.optional().describe("The only IP address used for the host; it may be private."),
  ),
  protocol: free(
    z
      .literal("tcp")
      .optional()
      .describe("`tcp` lets connections carry any protocol, unchecked. Default: TLS only."),
  ),
}).check(checkedValue(checkEgress));

const egress = z.union([egressName, egressObject]);

/** The `docker` block of an agent. */
export const docker = block({
  enabled: stricter(
    z.boolean().prefault(false).describe("Run the agent in a container."),
    keepsValue(true),
  ),
  image: stricter(image.optional().describe("Container image. Default: herdctl's image."), isEqual),
  network: stricter(
    z.enum(networks).prefault("none").describe("Network of the container."),
    noWeakerInOrder(networks),
  ),
  egress: stricter(
    z.array(egress).prefault([]).describe("Hosts and presets to open in the gateway."),
    isSubset,
  ),
  api_features: stricter(
    z
      .array(z.enum(apiFeatures))
      .prefault([])
      .describe("Features of the API that the agent may use besides plain answers."),
    isSubset,
  ),
  auth: stricter(
    z.enum(authModes).optional().describe("How requests of the container get the credential."),
    noWeakerInOrder(authModes),
  ),
  memory: stricter(size.prefault("2g").describe("Memory limit, such as `2g`."), isAtMost),
  cpus: stricter(
    z
      .number()
      .positive()
      .max(1024)
      .optional()
      .describe("CPU limit, such as `1.5`. Default: 2, or all CPUs of a smaller machine."),
    isAtMostOr(2),
  ),
  // With fewer than about 100 processes, `claude` crashes or hangs without an error.
  pids_limit: stricter(
    z.int().min(100).max(1_000_000).prefault(512).describe("Maximum number of processes."),
    isAtMost,
  ),
  disk: stricter(
    size
      .prefault("10g")
      .describe(
        "Maximum size of a file. Where the engine has quotas, also the size of a writable root file system.",
      ),
    isAtMost,
  ),
  min_free_disk: stricter(
    size
      .prefault("512m")
      .describe(
        "Free disk space below which a run is stopped, on the disk of its workspace or of the state folder.",
      ),
    isAtLeast,
  ),
  user: stricter(
    user
      .optional()
      .describe("Numeric user, such as `1000` or `1000:1000`. Default: owner of the workspace."),
    isEqual,
  ),
  workspace_mode: stricter(
    z.enum(["rw", "ro"]).prefault("rw").describe("Mount the workspace writable or read-only."),
    keepsValue("ro"),
  ),
  read_only: stricter(
    z.boolean().prefault(true).describe("Mount the root file system read-only."),
    keepsValue(true),
  ),
  tmpfs: stricter(
    z.array(absolutePath).prefault([]).describe("Further writable folders, kept in memory."),
    isSubset,
  ),
  volumes: stricter(
    z
      .array(volume)
      .prefault([])
      .describe("Host folders and named volumes to mount, as `source:/target[:ro|rw]`."),
    isEmptyList,
  ),
  env: free(stringMap.prefault({}).describe("Environment variables of the container only.")),
  commit_branch: fleetOnly(
    branch.optional().describe("Branch of the repository that the commits of a run move forward."),
    "it moves a branch of the repository",
  ),
});

function isEgressHost(text: string): boolean {
  const [name = "", port = "443"] = text.split(":");
  const last = name.slice(name.lastIndexOf(".") + 1);
  // Most programs read a name that ends in a number as an address, also in hex and octal.
  const isAddress = /^(\d+|0x[\da-f]*)$/i.test(last);
  return hostnamePattern.test(text) && !isAddress && Number(port) > 0 && Number(port) < 65_536;
}

interface EgressObject {
  host: string;
  address?: string | undefined;
  protocol?: "tcp" | undefined;
}

function checkEgress({ host, address, protocol }: EgressObject): InvalidValue | undefined {
  if (address === undefined && !host.includes(".")) {
    return new InvalidValue(
      `"${host}" is on a private network and needs an address`,
      `Add the IP address of the host: \`{host: ${host}, address: 10.0.0.5}\`.`,
    );
  }
  const isOnePort = host.includes(":") && !host.startsWith("*.");
  if (protocol === undefined || isOnePort) return undefined;
  return new InvalidValue(
    `\`protocol: tcp\` needs a single host with a port, not "${host}"`,
    "Write one host with its port, such as `git.example.com:22`.",
  );
}

function invalidHost(text: string): InvalidValue {
  return new InvalidValue(
    `"${text}" is not a host name`,
    `Write a host such as \`registry.example.com\`, or a preset: ${egressPresets.join(", ")}.`,
  );
}

function parseVolume(text: string): Volume | InvalidValue {
  const [source = "", target = "", mode = "ro", ...rest] = text.split(":");
  if (rest.length > 0 || target === "")
    return new InvalidValue(`"${text}" is not a volume`, volumeHint);
  if (mode !== "ro" && mode !== "rw")
    return new InvalidValue(`"${mode}" is not ro or rw`, volumeHint);
  if (!/^(\/|\.{1,2}(\/|$)|~(\/|$))/.test(source) && !isNamedVolume({ source })) {
    return new InvalidValue(
      `"${source}" is neither a path nor the name of a volume`,
      "Begin a path with `/`, `./`, `../` or `~/`. A name has letters, digits, `.`, `_` and `-`.",
    );
  }
  if (!isNormalizedAbsolutePath(target) || forbiddenTargets.includes(target)) {
    return new InvalidValue(
      `"${target}" cannot be a target`,
      "Write an absolute path in the container, such as `/cache`.",
    );
  }
  return { source, target, mode };
}

function formatVolume(volume: Volume): string {
  return `${volume.source}:${volume.target}:${volume.mode}`;
}

function isNormalizedAbsolutePath(path: string): boolean {
  const parts = path.split("/").slice(1);
  return (
    path.startsWith("/") && !path.includes("\0") && !parts.includes("..") && !parts.includes(".")
  );
}
