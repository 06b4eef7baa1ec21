import type { Defence } from "../defence.ts";

const ownership = "packages/core/src/state/ownership.ts";
const test = "test/abuse/ownership.test.ts";

export const ownershipDefences: readonly Defence[] = [
  {
    name: "files of another user are refused",
    guards: "the fleet's user, against a planted fleet file, `.env` or agent file",
    edit: {
      file: ownership,
      from: "if (uid !== user.uid && uid !== rootUid && uid !== user.sudoUid) {",
      to: "if (uid < 0) {",
    },
    red: { file: test, test: "herdctl.yaml is refused" },
  },
  {
    name: "files that other users may change are refused",
    guards: "the fleet's user, against other users of the machine",
    edit: {
      file: ownership,
      from: 'if ((mode & othersMayWrite) !== 0) return "every user of this machine";',
      to: "",
    },
    red: { file: test, test: "with mode 666 is refused" },
  },
  {
    name: "a link is followed before its owner is judged",
    guards: "the fleet's user, against a link to a file of another user",
    edit: {
      file: ownership,
      from: "return target ? [...facts, asFacts(realpathSync(path), target, true)] : facts;",
      to: "return facts;",
    },
    red: { file: test, test: "a link is followed before it is judged" },
  },
  {
    name: "commands do not use a fleet that another user planted",
    guards: "every command, completion included, against a planted state folder and socket",
    edit: {
      file: "packages/core/src/config/find.ts",
      from: "  assertFleetOwned(file);\n  return file;",
      to: "  return file;",
    },
    red: { file: test, test: "no command speaks to a planted fleet" },
  },
  {
    name: "a socket of another user is not used",
    guards: "commands and tokens, against another user who listens in our place",
    edit: {
      file: "packages/server/src/client/connect-fleet.ts",
      from: "assertOwned([socketPath]);",
      to: "",
    },
    red: { file: test, test: "a token file and a socket of another user" },
  },
  {
    name: "the search for herdctl.yaml ends at the home directory",
    guards: "the user, against a fleet file in a folder above",
    edit: {
      file: "packages/core/src/config/find.ts",
      from: "for (let folder = start; realOf(folder) !== home; ) {",
      to: "for (let folder = start; home !== undefined; ) {",
    },
    red: { file: test, test: "ends at the home directory" },
  },
];
