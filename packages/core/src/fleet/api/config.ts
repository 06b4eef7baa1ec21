import { viewConfig } from "@herdctl/config";
import type {
  ApplyEditOptions,
  ConfigApi,
  ConfigEdit,
  ConfigEditPreview,
  ConfigView,
} from "@herdctl/protocol";
import { viewEdit, writeEdit } from "../config-edit.ts";
import type { FleetContext } from "./fleet-context.ts";

export class FleetConfig implements ConfigApi {
  constructor(private readonly context: FleetContext) {}

  get(): Promise<ConfigView> {
    return this.context.read(async () => viewConfig(this.context.lifecycle.config));
  }

  preview(edit: ConfigEdit): Promise<ConfigEditPreview> {
    const { config, environment } = this.context.lifecycle;
    return this.context.read(async () => viewEdit(config, environment, edit));
  }

  /** Serialized, so that two edits of one file cannot overwrite each other. */
  edit(edit: ConfigEdit, { fingerprint }: ApplyEditOptions): Promise<ConfigEditPreview> {
    const { lifecycle, actor } = this.context;
    const paths = edit.changes.map(({ path }) => path.join(".")).join(", ");
    const write = () =>
      lifecycle.editing.runExclusive(async () => {
        const preview = await writeEdit(lifecycle.config, lifecycle.environment, edit, fingerprint);
        await lifecycle.reload(true, actor);
        return preview;
      });
    return this.context.perform(
      { action: "config.edit", target: edit.agent, details: { paths } },
      write,
      ({ file }) => ({ details: { file, paths } }),
    );
  }
}
