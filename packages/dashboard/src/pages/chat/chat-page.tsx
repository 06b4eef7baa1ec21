import { getRouteApi } from "@tanstack/react-router";
import { useFleetQuery } from "../../api/queries.ts";
import { classNames } from "../../ui/class-names.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { TextWithCode } from "../../ui/text-with-code.tsx";
import { Conversation } from "./conversation.tsx";
import { ConversationList } from "./conversation-list.tsx";

const route = getRouteApi("/chat");

export function ChatPage() {
  const search = route.useSearch();
  const status = useFleetQuery("status");
  const names = status.data?.agents.map(({ name }) => name) ?? [];
  const agent = search.agent ?? names[0];
  if (status.error && !status.data) return <ErrorNote error={status.error} />;
  if (!status.data) return <Loading />;
  if (agent === undefined) {
    return (
      <EmptyState title="No agents yet">
        <TextWithCode text="Add an agent to `herdctl.yaml` and run `herdctl reload`." />
      </EmptyState>
    );
  }
  return (
    <div className="flex h-[calc(100dvh-6rem)] gap-4 md:h-[calc(100dvh-3rem)]">
      <h1 className="sr-only">Chat</h1>
      <div
        className={classNames(
          "w-full shrink-0 md:block md:w-60",
          search.with !== undefined && "hidden",
        )}
      >
        <ConversationList agent={agent} agents={names} current={search.with} />
      </div>
      <div
        className={classNames(
          "min-w-0 flex-1 flex-col md:flex",
          search.with === undefined ? "hidden" : "flex",
        )}
      >
        <Conversation
          key={search.with === undefined ? agent : "open"}
          agent={agent}
          id={search.with}
        />
      </div>
    </div>
  );
}
