-- Marks of several callers in one transaction, so that they share a round trip and a commit; one alone, too. Not on Citus, where one
-- statement cannot write to the inboxes of several nodes. What is rare gets a null, and the caller runs it alone
-- (server/inbox/marks.store.ts).

-- kinds[i] is 'read', 'unread' or 'all'. Of 'all', ids[i] is the last notification that it covers, or seqs[i] its sequence number, or both are
-- null. The inboxes are locked in the order of user_id, as those of a delivery, so that two batches cannot deadlock. Each statement of a
-- PL/pgSQL function sees what was committed before that statement: after the inbox is locked, its notifications are read as they are now.
-- Returns 'done', 'unchanged' or 'absent' for each, in their order.
create or replace function mark_together(kinds text[], users text[], ids text[], seqs bigint[], moments text[])
returns text[] language plpgsql set lock_timeout = '250ms' as $$
declare
  one record;
  box inbox;
  note notification;
  through bigint;
  is_unread boolean;
  more integer;
  answers text[] := array_fill(null::text, array[cardinality(users)]);
begin
  for one in
    select * from unnest(kinds, users, ids, seqs, moments) with ordinality as w (kind, user_id, id, max_seq, at, n)
    order by w.user_id collate "C", w.n
  loop
    select * into box from inbox where user_id = one.user_id for update;
    if one.id is not null then
      select * into note from notification where user_id = one.user_id and id = one.id;
      if note.seq is null then
        answers[one.n] := 'absent';
        continue;
      end if;
    end if;

    if one.kind = 'all' then
      through := case when one.id is null then least(box.last_seq, one.max_seq) else note.seq end;
      if box.user_id is null or through = box.last_seq and box.unread = 0 then
        answers[one.n] := 'unchanged';
      elsif through = box.last_seq and through > box.read_through then
        update inbox set version = version + 1, read_through = through, read_version = version + 1, unread = 0, marked_unread = 0,
            undo_version = version + 1, reset_version = greatest(reset_version, archive_version)
          where user_id = one.user_id;
        insert into read_mark (user_id, version, through_seq, at, before_through, before_version, made_read)
          values (one.user_id, box.version + 1, through, one.at, box.read_through, box.read_version, box.unread);
        update inbox_category set made = unread, unread = 0
          where user_id = one.user_id and (unread > 0 or made > 0);
        answers[one.n] := 'done';
      end if;
      continue;
    end if;

    is_unread := note.read_at is null
      and (note.seq > box.read_through or coalesce(note.unread_version, -1) >= box.read_version);
    -- A read-all covers it, or may.
    continue when note.read_at is null and (note.seq <= box.category_through or not is_unread);
    -- It is not in the list, or may not be.
    continue when one.kind = 'unread' and (note.away is not null or note.seq <= box.archive_through);
    if is_unread = (one.kind = 'unread') then
      answers[one.n] := 'unchanged';
      continue;
    end if;
    more := case when is_unread then -1 else 1 end;
    update inbox set version = version + 1, unread = unread + more,
        marked_unread = marked_unread + case when note.seq <= box.read_through then more else 0 end
      where user_id = one.user_id;
    update notification set read_at = case when is_unread then one.at end, changed_version = box.version + 1,
        unread_version = case when is_unread then null else box.version + 1 end, away_at = null
      where user_id = one.user_id and seq = note.seq;
    if note.category is not null then
      update inbox_category set unread = unread + more where user_id = one.user_id and category = note.category;
    end if;
    answers[one.n] := 'done';
  end loop;
  return answers;
end $$;
