import { DeploymentEditor } from './editor.tsx';
import { DeploymentsList } from './list.tsx';

export default function Deployments({ path }: { path: readonly string[] }) {
	const [id] = path;
	return id === undefined ? <DeploymentsList /> : <DeploymentEditor key={id} id={id} />;
}
