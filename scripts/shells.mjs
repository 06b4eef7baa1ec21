// Installs the shells that completion is tested in, where they are missing.
import { installMissing } from "./engine/install.mjs";

await installMissing({ zsh: "zsh", fish: "fish" }, "shells");
