import { AssistantEditor } from './editor.tsx';
import { AssistantsList } from './list.tsx';

export default function Assistants({ path }: { path: readonly string[] }) {
	const [id] = path;
	return id === undefined ? <AssistantsList /> : <AssistantEditor key={id} id={id} />;
}
