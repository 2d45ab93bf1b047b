import { ToolEditor } from './editor.tsx';
import { ToolsList } from './list.tsx';
import { NewTool } from './new.tsx';

/** `tools`, `tools/new`, `tools/{id}` */
export default function Tools({ path }: { path: readonly string[] }) {
	const [id] = path;
	if (id === undefined) return <ToolsList />;
	return id === 'new' ? <NewTool /> : <ToolEditor key={id} id={id} />;
}
