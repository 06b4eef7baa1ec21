// Installs the shells for the completion tests, unless they are installed.
import { installMissing } from "./docker-engine/install.mjs";

await installMissing({ zsh: "zsh", fish: "fish" }, "shells");
