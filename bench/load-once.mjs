// Prints the milliseconds of one cold load: `herdctl` loads the fleet, `yaml` only parses its files.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadFleet } from "@herdctl/core";
import { parse } from "yaml";

const [how, folder] = process.argv.slice(2);
const ways = {
  herdctl: () => loadFleet(join(folder, "herdctl.yaml"), {}),
  yaml: () => {
    for (const name of readdirSync(join(folder, "agents")))
      parse(readFileSync(join(folder, "agents", name), "utf8"));
  },
};

const began = performance.now();
ways[how]();
process.stdout.write(String(performance.now() - began));
