import { useState } from 'preact/hooks';
import { api, BASE_URL, resultOf } from '../../api/client.ts';
import { invalidate } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { TextField } from '../../components/field.tsx';
import { useAction } from '../../forms/use-action.ts';
import { fill, strings } from '../../languages/index.ts';
import { StepFrame, type StepProps } from './step.tsx';

/** The fourth step: the website that may show the chat, and the tag to paste into it. */
export function SnippetStep({ setup: { assistant, deployment }, onNext }: StepProps) {
	const t = strings().startPage;
	const [allowed, ...others] = deployment?.allowed_domains ?? [];
	const [website, setWebsite] = useState('');
	const [isCorrected, setCorrected] = useState(false);
	const allow = useAction(async () => {
		if (!assistant) return;
		const allowed_domains = [domainOf(website), ...others];
		if (deployment) {
			await api.PATCH('/api/v1/deployments/{id}', {
				params: { path: { id: deployment.id } },
				body: { allowed_domains },
			});
		} else {
			const body = { name: assistant.name, assistant_id: assistant.id, allowed_domains };
			await resultOf(api.POST('/api/v1/deployments', { body }));
		}
		await Promise.all([invalidate('setup'), invalidate('deployments')]);
		setCorrected(false);
	}, ['/allowed_domains/0']);
	const correct = () => {
		setWebsite(allowed ?? '');
		setCorrected(true);
	};
	return (
		<StepFrame
			title={t.snippetTitle}
			text={assistant ? t.snippetText : t.snippetNeedsAssistant}
			isDone={allowed !== undefined}
			nextLabel={t.finish}
			onNext={onNext}
		>
			{assistant && (allowed === undefined || isCorrected) && (
				<form
					class="guide-url"
					onSubmit={(event) => {
						event.preventDefault();
						void allow.run();
					}}
				>
					<TextField
						label={t.website}
						hint={t.websiteHint}
						placeholder="shop.example"
						value={website}
						error={allow.rejected?.messageFor('/allowed_domains/0')}
						onChange={setWebsite}
					/>
					<Button type="submit" look="primary" isBusy={allow.isBusy} disabled={website.trim() === ''}>
						{t.allowWebsite}
					</Button>
				</form>
			)}
			{deployment && allowed !== undefined && !isCorrected && (
				<>
					<p>{fill(t.snippetFor, { website: allowed })}</p>
					<div class="snippet">
						<pre>{snippetOf(deployment.id)}</pre>
						<CopyButton text={snippetOf(deployment.id)} label={t.copySnippet} />
					</div>
					<Button look="quiet" onClick={correct}>
						{t.correctWebsite}
					</Button>
				</>
			)}
		</StepFrame>
	);
}

function snippetOf(deploymentId: string): string {
	return `<script src="${BASE_URL}widget.js" data-deployment-id="${deploymentId}" async></script>`;
}

/** People paste addresses; the server takes the host with its port. */
function domainOf(text: string): string {
	const address = text.trim();
	try {
		return new URL(/^https?:\/\//i.test(address) ? address : `https://${address}`).host;
	} catch {
		return address;
	}
}
