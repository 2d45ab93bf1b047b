const MAX_SUM = Number.MAX_SAFE_INTEGER;

/**
 * Writes about costs. A transaction that checks a budget locks the costs of the workspace until it ends, so of two at once the second
 * sees the first, whatever their days. A row lock would not do: the sums of two days are two rows.
 */
export const SPENDING_FUNCTIONS = `
	-- The accounts that a spender is charged to.
	CREATE FUNCTION accounts_of(p_workspace text, p_deployment text, p_visitor text, p_model text)
	RETURNS TABLE (dimension text, account text) LANGUAGE sql IMMUTABLE AS $$
		SELECT a.dimension, a.account FROM (VALUES ('workspace', p_workspace), ('deployment', p_deployment), ('visitor', p_visitor),
			('model', p_deployment || ':' || p_model)) AS a (dimension, account) WHERE a.account IS NOT NULL
	$$;

	-- Locks the costs of workspaces until the transaction ends, in the order of the locks' keys.
	CREATE FUNCTION lock_spending(p_workspaces text[]) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE lock_key bigint;
	BEGIN
		FOR lock_key IN SELECT DISTINCT hashtextextended(concat('spending ', id), 0) FROM unnest(p_workspaces) AS id
			WHERE id IS NOT NULL ORDER BY 1 LOOP
			PERFORM pg_advisory_xact_lock(lock_key);
		END LOOP;
	END $$;

	-- Locks the costs of all workspaces that these writes change, before any of them locks something else: two batches with the
	-- same workspaces in another order would wait for each other.
	CREATE FUNCTION lock_spending_of(p_writes jsonb) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		PERFORM lock_spending(ARRAY(
			SELECT coalesce(w #>> '{spender,workspace_id}', w #>> '{unreserved,spender,workspace_id}', w ->> 'workspace_id',
				(SELECT r.workspace_id FROM spending_reservations r WHERE r.message_id = w ->> 'message_id'),
				(SELECT r.workspace_id FROM spending_reservations r WHERE r.conversation_id = w ->> 'id' LIMIT 1),
				(SELECT c.workspace_id FROM conversations c JOIN erasures e ON e.workspace_id = c.workspace_id
					AND e.end_user_id = c.end_user_id WHERE c.id = w ->> 'id'))
			FROM jsonb_array_elements(p_writes) AS w
		));
	END $$;

	CREATE FUNCTION add_spending(
		p_workspace text, p_deployment text, p_visitor text, p_model text, p_day bigint, p_spent bigint, p_reserved bigint
	) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO spending AS s (workspace_id, dimension, account, day, spent, reserved)
		SELECT p_workspace, a.dimension, a.account, p_day, least(p_spent, ${MAX_SUM}), greatest(least(p_reserved, ${MAX_SUM}), 0)
		FROM accounts_of(p_workspace, p_deployment, p_visitor, p_model) AS a
		ON CONFLICT (workspace_id, dimension, account, day) DO UPDATE SET spent = least(s.spent + excluded.spent, ${MAX_SUM}),
			reserved = greatest(least(s.reserved + p_reserved, ${MAX_SUM}), 0);
	END $$;

	-- Refuses the commit if an amount exceeds limits of a spender.
	CREATE FUNCTION require_within(p_spender jsonb, p_amount bigint, p_limits jsonb) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE exceeded jsonb;
	BEGIN
		IF jsonb_array_length(p_limits) = 0 THEN RETURN; END IF;
		PERFORM lock_spending(ARRAY[p_spender ->> 'workspace_id']);
		SELECT jsonb_agg(l.item ->> 'dimension' ORDER BY l.position) INTO exceeded
		FROM jsonb_array_elements(p_limits) WITH ORDINALITY AS l (item, position)
		WHERE (l.item ->> 'amount')::numeric < p_amount + (
			SELECT coalesce(sum(s.spent + s.reserved), 0) FROM spending s
			WHERE s.workspace_id = p_spender ->> 'workspace_id' AND s.dimension = l.item ->> 'dimension'
			AND s.account = p_spender ->> concat(l.item ->> 'dimension', '_id')
			AND s.day BETWEEN (l.item ->> 'from')::bigint AND (l.item ->> 'to')::bigint
		);
		IF exceeded IS NOT NULL THEN PERFORM refuse(jsonb_build_object('outcome', 'over_budget', 'exceeded', exceeded)); END IF;
	END $$;

	CREATE FUNCTION reserve_spending(p_write jsonb, p_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		s jsonb := p_write -> 'spender';
		p_day bigint := (p_write ->> 'day')::bigint;
		p_amount bigint := least((p_write ->> 'amount')::bigint, ${MAX_SUM});
	BEGIN
		PERFORM require_within(s, p_amount, p_write -> 'limits');
		INSERT INTO spending_reservations (message_id, conversation_id, workspace_id, deployment_id, visitor_id, model, day, amount, node_epoch)
		VALUES (p_write ->> 'message_id', p_write ->> 'conversation_id', s ->> 'workspace_id', s ->> 'deployment_id',
			s ->> 'visitor_id', s ->> 'model', p_day, p_amount, p_epoch);
		PERFORM add_spending(s ->> 'workspace_id', s ->> 'deployment_id', s ->> 'visitor_id', s ->> 'model', p_day, 0, p_amount);
	END $$;

	-- What is added counts on the day of the reservation, so that both are settled as one.
	CREATE FUNCTION extend_reservation(p_write jsonb) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		r spending_reservations;
		p_amount bigint := (p_write ->> 'amount')::bigint;
	BEGIN
		SELECT * INTO r FROM spending_reservations WHERE message_id = p_write ->> 'message_id' FOR UPDATE;
		IF NOT FOUND THEN RETURN; END IF;
		PERFORM require_within(to_jsonb(r), p_amount, p_write -> 'limits');
		UPDATE spending_reservations SET amount = least(amount + p_amount, ${MAX_SUM}) WHERE message_id = r.message_id;
		PERFORM add_spending(r.workspace_id, r.deployment_id, r.visitor_id, r.model, r.day, 0, p_amount);
	END $$;

	CREATE FUNCTION settle_reservation(p_write jsonb) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		r spending_reservations;
		s jsonb := p_write #> '{unreserved,spender}';
		p_cost bigint := (p_write ->> 'cost')::bigint;
	BEGIN
		DELETE FROM spending_reservations WHERE message_id = p_write ->> 'message_id' RETURNING * INTO r;
		IF FOUND THEN
			PERFORM add_spending(r.workspace_id, r.deployment_id, r.visitor_id, r.model, r.day, p_cost, -r.amount);
		ELSIF s IS NOT NULL THEN
			PERFORM add_spending(s ->> 'workspace_id', s ->> 'deployment_id', s ->> 'visitor_id', s ->> 'model',
				(p_write #>> '{unreserved,day}')::bigint, p_cost, 0);
		END IF;
	END $$;

	-- A visitor's conversation stays until the transaction ends: otherwise its erasure could miss what this commit stores.
	CREATE FUNCTION require_visitor(p_visitor text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		PERFORM 1 FROM conversations WHERE visitor_id = p_visitor LIMIT 1 FOR KEY SHARE;
		IF NOT FOUND THEN PERFORM refuse_conflict('conversations', p_visitor); END IF;
	END $$;

	-- Applies a write about costs that is part of a message. p_epoch: of the node that commits it.
	CREATE FUNCTION apply_spending(p_write jsonb, p_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		CASE p_write ->> 'op'
		WHEN 'spending.reserve' THEN PERFORM reserve_spending(p_write, p_epoch);
		WHEN 'spending.extend' THEN PERFORM extend_reservation(p_write);
		WHEN 'spending.settle' THEN PERFORM settle_reservation(p_write);
		WHEN 'spending.require_visitor' THEN PERFORM require_visitor(p_write ->> 'visitor_id');
		END CASE;
	END $$;

	-- Ends reservations at the amounts that were reserved.
	CREATE FUNCTION settle_as_reserved(p_message_ids text[]) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		PERFORM lock_spending(ARRAY(SELECT r.workspace_id::text FROM spending_reservations r WHERE r.message_id = ANY(p_message_ids)));
		WITH ended AS (
			DELETE FROM spending_reservations r WHERE r.message_id = ANY(p_message_ids) RETURNING r.*
		), sums AS (
			SELECT r.workspace_id, a.dimension, a.account, r.day, least(sum(r.amount), ${MAX_SUM})::bigint AS amount
			FROM ended r CROSS JOIN LATERAL accounts_of(r.workspace_id, r.deployment_id, r.visitor_id, r.model) AS a
			GROUP BY r.workspace_id, a.dimension, a.account, r.day
		)
		INSERT INTO spending AS s (workspace_id, dimension, account, day, spent, reserved)
		SELECT sums.workspace_id, sums.dimension, sums.account, sums.day, sums.amount, 0 FROM sums
		ON CONFLICT (workspace_id, dimension, account, day) DO UPDATE SET spent = least(s.spent + excluded.spent, ${MAX_SUM}),
			reserved = greatest(s.reserved - excluded.spent, 0);
	END $$;
`;
