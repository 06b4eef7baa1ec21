import { z } from "zod";
import { size } from "./quantities.ts";
import { stringMap } from "./texts.ts";
import {
  atLeast,
  atMost,
  atMostOr,
  block,
  empty,
  equal,
  fleetOnly,
  free,
  inOrder,
  keeps,
  stricter,
  subset,
} from "./trust.ts";
import { checkedText, checkedValue, meaningful, Wrong } from "./wrong.ts";

const egressPresets = ["npm", "github", "pypi", "debian"] as const;
const networks = ["none", "bridge", "host"] as const;
const auths = ["gateway", "env", "mount"] as const;
/** What the API can do for an agent beyond answering it. */
const apiReaches = [
  "web_search",
  "web_fetch",
  "code_execution",
  "mcp",
  "urls",
  "files",
  "unknown",
] as const;

const forbiddenTargets = ["/", "/proc", "/sys", "/dev", "/etc"];
const volumeHint = "Write `source:/target` or `source:/target:ro`, such as `./cache:/cache:rw`.";

const volumeParts = z.object({
  source: z.string(),
  target: z.string(),
  mode: z.enum(["ro", "rw"]),
});

/** `source:/target[:ro|rw]`; read-only unless it says `rw`. */
const volume = meaningful(volumeParts, parseVolume, formatVolume, ["./cache:/cache:rw"]);

export type Volume = z.output<typeof volumeParts>;

const hostname =
  /^(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?(:\d{1,5})?$/i;

const egressHost = checkedText((text) => (isHost(text) ? undefined : noHost(text)));

/** A bare word is a preset: as a host it could only be a private one, and those need an address. */
const egressName = checkedText((text) => {
  if (!isHost(text)) return noHost(text);
  if (text.includes(".") || egressPresets.some((preset) => preset === text)) return undefined;
  return new Wrong(
    `"${text}" is not a preset`,
    `Write a preset (${egressPresets.join(", ")}) or a whole host name; for a host of a private network \`{host: ${text}, address: 10.0.0.5}\`.`,
  );
});

const address = checkedText((text) =>
  z.union([z.ipv4(), z.ipv6()]).safeParse(text).success
    ? undefined
    : new Wrong(
        `"${text}" is not an IP address`,
        "Write the one address at which the host is reached.",
      ),
);

const absolutePath = checkedText((text) =>
  isCleanAbsolute(text) && !forbiddenTargets.includes(text)
    ? undefined
    : new Wrong(
        `"${text}" cannot be mounted`,
        "Write an absolute path in the container, such as `/var/tmp`.",
      ),
);

const user = checkedText((text) => {
  const match = /^(\d+)(:\d+)?$/.exec(text);
  if (match && Number(match[1]) > 0) return undefined;
  return new Wrong(
    `"${text}" is not a user for a container`,
    "Write a numeric user other than root: `1000` or `1000:1000`.",
  );
});

const image = checkedText((text) =>
  /^[a-z0-9][\w.\-/:@]*$/i.test(text)
    ? undefined
    : new Wrong(
        `"${text}" is not the name of an image`,
        "Write `name:tag`, such as `herdctl/agent:latest`.",
      ),
);

const branch = checkedText((text) =>
  /^(?![-./])[\w./+-]{1,200}$/.test(text) && !/\.\.|\/\/|\/\.|[./]$|\.lock(\/|$)/.test(text)
    ? undefined
    : new Wrong(`"${text}" is not a branch name`, "Write a branch such as `agents/docs`."),
);

const egressObject = block({
  host: free(egressHost.describe("Host that the gateway opens")),
  address: free(
    address.optional().describe("The only address at which it is reached; it may be private"),
  ),
  protocol: free(
    z
      .literal("tcp")
      .optional()
      .describe("Let tunnels carry any protocol, unchecked; tunnels carry TLS only without it"),
  ),
}).check(checkedValue(wrongEgress));

const egress = z.union([egressName, egressObject]);

export const docker = block({
  enabled: stricter(
    z.boolean().prefault(false).describe("Run the agent in a container"),
    keeps(true),
  ),
  image: stricter(image.optional().describe("Image to run; herdctl's own when not given"), equal),
  network: stricter(
    z.enum(networks).prefault("none").describe("Network of the container"),
    inOrder(networks),
  ),
  egress: stricter(
    z.array(egress).prefault([]).describe("Hosts and presets that the gateway opens"),
    subset,
  ),
  api_reach: stricter(
    z
      .array(z.enum(apiReaches))
      .prefault([])
      .describe("What the API may do for the agent beyond answering it"),
    subset,
  ),
  auth: stricter(
    z.enum(auths).optional().describe("How the credential reaches the model"),
    inOrder(auths),
  ),
  memory: stricter(size.prefault("2g").describe("Memory limit, such as `2g`"), atMost),
  cpus: stricter(
    z
      .number()
      .positive()
      .max(1024)
      .optional()
      .describe("CPU limit, such as `1.5`; 2 when not given, or all of a machine that has fewer"),
    atMostOr(2),
  ),
  // Below about a hundred the binary crashes or hangs instead of reporting an error.
  pids_limit: stricter(
    z.int().min(100).max(1_000_000).prefault(512).describe("Limit on processes"),
    atMost,
  ),
  disk: stricter(
    size
      .prefault("10g")
      .describe(
        "Largest file that may be written, and size of a writable root where the engine has quotas",
      ),
    atMost,
  ),
  min_free_disk: stricter(
    size
      .prefault("512m")
      .describe("A run is stopped when the disk of its workspace or of the state has less left"),
    atLeast,
  ),
  user: stricter(
    user.optional().describe("Numeric user; the workspace's owner when not given"),
    equal,
  ),
  workspace_mode: stricter(
    z.enum(["rw", "ro"]).prefault("rw").describe("Workspace writable or read-only"),
    keeps("ro"),
  ),
  read_only: stricter(
    z.boolean().prefault(true).describe("Root file system read-only"),
    keeps(true),
  ),
  tmpfs: stricter(
    z.array(absolutePath).prefault([]).describe("Further writable places in memory"),
    subset,
  ),
  volumes: stricter(
    z.array(volume).prefault([]).describe("Folders of the host: `source:/target[:ro|rw]`"),
    empty,
  ),
  env: free(stringMap.prefault({}).describe("Environment of the container only")),
  commit_branch: fleetOnly(
    branch.optional().describe("Branch of the repository that commits of a run move forward"),
    "it moves a branch of the repository",
  ),
  warm: stricter(
    z.boolean().prefault(false).describe("Keep a spare container ready"),
    keeps(false),
  ),
});

function isHost(text: string): boolean {
  const [name = "", port = "443"] = text.split(":");
  const last = name.slice(name.lastIndexOf(".") + 1);
  // A name that ends in a number is an address to most programs, in hex and octal too.
  const isAddress = /^(\d+|0x[\da-f]*)$/i.test(last);
  return hostname.test(text) && !isAddress && Number(port) > 0 && Number(port) < 65_536;
}

interface EgressObject {
  host: string;
  address?: string | undefined;
  protocol?: "tcp" | undefined;
}

function wrongEgress({ host, address, protocol }: EgressObject): Wrong | undefined {
  if (address === undefined && !host.includes(".")) {
    return new Wrong(
      `"${host}" is a host of a private network, and has no address`,
      `Add the one address at which it is reached: \`{host: ${host}, address: 10.0.0.5}\`.`,
    );
  }
  const isOnePort = host.includes(":") && !host.startsWith("*.");
  if (protocol === undefined || isOnePort) return undefined;
  return new Wrong(
    `"${host}" is not one host and port, which \`protocol: tcp\` needs`,
    "Write one host with its port, such as `git.example.com:22`.",
  );
}

function noHost(text: string): Wrong {
  return new Wrong(
    `"${text}" is not a host name`,
    `Write a host such as \`registry.example.com\`, or a preset: ${egressPresets.join(", ")}.`,
  );
}

function parseVolume(text: string): Volume | Wrong {
  const [source = "", target = "", mode = "ro", ...rest] = text.split(":");
  if (rest.length > 0 || target === "") return new Wrong(`"${text}" is not a volume`, volumeHint);
  if (mode !== "ro" && mode !== "rw") return new Wrong(`"${mode}" is not ro or rw`, volumeHint);
  if (!/^(\/|\.{1,2}(\/|$)|~(\/|$))/.test(source)) {
    return new Wrong(
      `"${source}" is not a path`,
      "Begin the source with `/`, `./`, `../` or `~/`.",
    );
  }
  if (!isCleanAbsolute(target) || forbiddenTargets.includes(target)) {
    return new Wrong(
      `"${target}" cannot be a target`,
      "Write an absolute path in the container, such as `/cache`.",
    );
  }
  return { source, target, mode };
}

function formatVolume(volume: Volume): string {
  return `${volume.source}:${volume.target}:${volume.mode}`;
}

function isCleanAbsolute(path: string): boolean {
  const parts = path.split("/").slice(1);
  return (
    path.startsWith("/") && !path.includes("\0") && !parts.includes("..") && !parts.includes(".")
  );
}
