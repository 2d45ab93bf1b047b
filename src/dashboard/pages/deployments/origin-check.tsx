import { useEffect, useState } from 'preact/hooks';
import { api, type Resource, resultOf } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { sentenceOf } from '../../components/page.tsx';
import { fill, strings } from '../../languages/index.ts';

type Check = Resource<'OriginCheck'>;

/** Asks the server whether a page would be let in by the entries of the form, saved or not. */
export function OriginCheck({ deploymentId, domains }: { deploymentId: string; domains: readonly string[] }) {
	const t = strings().deploymentPages;
	const [address, setAddress] = useState('');
	const [result, setResult] = useState<Check | Error | null>(null);
	const [isBusy, setBusy] = useState(false);
	// The answer is about the entries that were checked.
	useEffect(() => setResult(null), [domains.join('\n')]);
	const check = async (event: Event) => {
		event.preventDefault();
		setBusy(true);
		const params = { path: { id: deploymentId } };
		const body = { url: withScheme(address.trim()), allowed_domains: [...domains] };
		try {
			setResult(await resultOf(api.POST('/api/v1/deployments/{id}/check-origin', { params, body })));
		} catch (error) {
			setResult(error as Error);
		}
		setBusy(false);
	};
	return (
		<form class="card narrow" onSubmit={(event) => void check(event)}>
			<TextField
				label={t.checkOrigin}
				hint={t.checkOriginHint}
				placeholder="https://www.shop.example/kettles"
				value={address}
				onChange={(text) => {
					setAddress(text);
					setResult(null);
				}}
			/>
			<Button type="submit" isBusy={isBusy} disabled={address.trim() === ''}>
				{t.check}
			</Button>
			<div role="status">{result && <Answer result={result} />}</div>
		</form>
	);
}

/** People type addresses without a scheme. */
function withScheme(address: string): string {
	return /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `https://${address}`;
}

function Answer({ result }: { result: Check | Error }) {
	const t = strings().deploymentPages;
	if (result instanceof Error) return <p class="verdict verdict-no">{sentenceOf(result)}</p>;
	const { allowed, origin, entry, reason, near_misses } = result;
	if (allowed) return <p class="verdict verdict-yes">{fill(t.letIn, { origin: origin ?? '', entry: entry ?? '' })}</p>;
	return (
		<div class="verdict verdict-no">
			<p>{fill(t[`refused_${reason ?? 'no_entry_matches'}`], { origin: origin ?? '' })}</p>
			{near_misses.length > 0 && (
				<ul>
					{near_misses.map((miss) => (
						<li key={miss.entry}>{fill(t[`miss_${miss.reason}`], { entry: miss.entry })}</li>
					))}
				</ul>
			)}
		</div>
	);
}
