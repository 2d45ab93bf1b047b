import { api, resultOf } from '../../api/client.ts';
import { invalidate, useQuery } from '../../api/queries.ts';
import { showToast } from '../../app/toasts.tsx';
import { Button } from '../../components/button.tsx';
import { confirm } from '../../components/confirm.tsx';
import { QueryContent } from '../../components/query-content.tsx';
import { Status } from '../../components/status.tsx';
import { RelativeTime } from '../../components/time.tsx';
import { useAction } from '../../forms/use-action.ts';
import { count, fill, strings } from '../../languages/index.ts';
import { browserOf } from './browser-name.ts';
import { type OwnSession, ownSessions } from './queries.ts';

/** Where the user is signed in. */
export function SessionList() {
	const t = strings().accessPages;
	const query = useQuery(ownSessions());
	const endOthers = useAction(async () => {
		const question = { title: t.endOthersTitle, text: t.endOthersText, action: t.endOthers };
		if (!(await confirm(question))) return;
		const { ended } = await resultOf(api.DELETE('/api/v1/sessions'));
		showToast(count(t.endedOthers, ended));
		await invalidate('account', 'sessions');
	});
	return (
		<section class="card" aria-label={t.sessions}>
			<h2>{t.sessions}</h2>
			<QueryContent query={query}>
				{(sessions) => (
					<>
						<ul class="sessions">
							{sessions.map((session) => (
								<SessionItem key={session.id} session={session} />
							))}
						</ul>
						{sessions.length > 1 && (
							<Button isBusy={endOthers.isBusy} onClick={() => void endOthers.run()}>
								{t.endOthers}
							</Button>
						)}
					</>
				)}
			</QueryContent>
		</section>
	);
}

function SessionItem({ session: { id, is_current, user_agent, last_used_at, created_at } }: { session: OwnSession }) {
	const t = strings().accessPages;
	const end = useAction(async () => {
		await api.DELETE('/api/v1/sessions/{id}', { params: { path: { id } } });
		showToast(t.ended);
		await invalidate('account', 'sessions');
	});
	const known = browserOf(user_agent);
	return (
		<li>
			<div>
				<strong title={user_agent ?? undefined}>{known ? fill(t.browserOn, known) : t.unknownBrowser}</strong>{' '}
				{is_current && <Status tone="green">{t.thisBrowser}</Status>}
				<p class="hint">
					{t.usedSince} <RelativeTime at={last_used_at} /> · {t.signedInSince} <RelativeTime at={created_at} />
				</p>
			</div>
			{!is_current && (
				<Button isBusy={end.isBusy} onClick={() => void end.run()}>
					{t.endSession}
				</Button>
			)}
		</li>
	);
}
