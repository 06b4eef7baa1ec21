import { Link } from "@tanstack/react-router";
import { Empty } from "../ui/empty.tsx";

export function NotFound() {
  return (
    <Empty title="There is no such page">
      <Link to="/" className="text-accent underline">
        To the fleet
      </Link>
    </Empty>
  );
}
