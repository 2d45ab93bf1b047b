import { useState } from 'preact/hooks';
import { api, type Resource, resultOf } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { TextArea } from '../../components/field.tsx';
import { sentenceOf } from '../../components/page.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { fill, strings } from '../../languages/index.ts';

type Check = Resource<'TokenCheck'>;

/** Asks the server whether a token identifies a visitor, by the saved settings. @param isSaved whether the form shows these */
export function TokenChecker({ deploymentId, isSaved }: { deploymentId: string; isSaved: boolean }) {
	const t = strings().deploymentPages;
	const [token, setToken] = useState('');
	const [result, setResult] = useState<Check | Error | null>(null);
	const [isBusy, setBusy] = useState(false);
	const check = async (event: Event) => {
		event.preventDefault();
		setBusy(true);
		const params = { path: { id: deploymentId } };
		const body = { token: token.trim().replace(/^Bearer\s+/i, '') };
		try {
			setResult(await resultOf(api.POST('/api/v1/deployments/{id}/check-token', { params, body })));
		} catch (error) {
			setResult(error as Error);
		}
		setBusy(false);
	};
	return (
		<form class="card narrow" onSubmit={(event) => void check(event)}>
			<TextArea
				label={t.checkToken}
				hint={isSaved ? t.checkTokenHint : t.checkTokenUnsaved}
				rows={4}
				maxLength={20_000}
				placeholder="eyJ…"
				value={token}
				onChange={(text) => {
					setToken(text);
					setResult(null);
				}}
			/>
			<Button type="submit" isBusy={isBusy} disabled={token.trim() === ''}>
				{t.check}
			</Button>
			<div role="status">{result && <Answer result={result} />}</div>
		</form>
	);
}

function Answer({ result }: { result: Check | Error }) {
	const t = strings().deploymentPages;
	if (result instanceof Error) return <p class="verdict verdict-no">{sentenceOf(result)}</p>;
	const { valid, problem, end_user, expires_at } = result;
	if (!valid) return <p class="verdict verdict-no">{fill(t.tokenInvalid, { problem: problem ?? '' })}</p>;
	const person = [end_user?.id, end_user?.name, end_user?.email].filter(Boolean).join(' · ');
	return (
		<p class="verdict verdict-yes">
			{fill(t.tokenValid, { person })} {expires_at && <RelativeTime at={expires_at} />}
		</p>
	);
}
