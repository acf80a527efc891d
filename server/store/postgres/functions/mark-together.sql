-- Marks of several callers share a commit, not on Citus. A rare mark gets null and runs alone
-- (server/inbox/marks.store.ts).

-- kinds[i] is 'read', 'unread', 'archive', 'unarchive', 'snooze' (until untils[i]), 'delete' or
-- 'all'. An 'all' covers up to ids[i], up to the sequence number seqs[i], or everything. Inboxes
-- are locked by user_id, as by a delivery, so batches cannot deadlock. A PL/pgSQL statement sees
-- what was committed before it: notifications are read as they are after the lock. Returns 'done',
-- 'unchanged' or 'absent' for each.
create or replace function mark_together(kinds text[], users text[], ids text[], seqs bigint[], moments text[], untils text[])
returns text[] language plpgsql set lock_timeout = '250ms' as $$
declare
  one record;
  box inbox;
  note notification;
  through bigint;
  goal text;
  more_listed integer;
  more_unread integer;
  more_archived integer;
  more_snoozed integer;
  lowest bigint;
  answers text[] := array_fill(null::text, array[cardinality(users)]);
begin
  for one in
    select * from unnest(kinds, users, ids, seqs, moments, untils) with ordinality as w (kind, user_id, id, max_seq, at, until, n)
    order by w.user_id collate "C", w.n
  loop
    select * into box from inbox where user_id = one.user_id for update;
    if one.id is not null then
      select * into note from notification where user_id = one.user_id and id = one.id;
      if note.seq is null then
        -- A second delete changes nothing.
        answers[one.n] := case when one.kind <> 'delete' then 'absent' end;
        continue;
      end if;
    end if;

    if one.kind = 'all' then
      through := case when one.id is null then least(box.last_seq, one.max_seq) else note.seq end;
      if box.user_id is null or through = box.last_seq and box.unread = 0 then
        answers[one.n] := 'unchanged';
      -- If an act has to go on (server/inbox/bulk/bulk.store.ts), the caller runs this alone.
      elsif through = box.last_seq and box.unread <= 100 and not coalesce((
        select through_seq < goal_seq from bulk where user_id = one.user_id and version >= box.undo_version order by version desc limit 1
      ), false) then
        select min(seq) into lowest from notification where user_id = one.user_id and state = 'unread';
        update notification set state = 'read', read_at = one.at, bulk_version = box.version + 1 where user_id = one.user_id and state = 'unread';
        update inbox set version = version + 1, unread = 0, undo_version = version + 1,
            reset_version = greatest(reset_version, archive_version)
          where user_id = one.user_id;
        update inbox_category set unread = 0 where user_id = one.user_id and unread > 0;
        insert into bulk (user_id, version, act, kind, from_seq, through_seq, goal_seq, at)
          values (one.user_id, box.version + 1, box.version + 1, 'read', lowest, through, through, one.at);
        if box.reach & 8 = 8 then perform watch_change(box); end if;
        answers[one.n] := 'done';
      end if;
      continue;
    end if;

    -- These may be security notices, which stay for a day.
    continue when one.kind in ('archive', 'snooze', 'delete') and note.category = 'security' and note.producer is null;
    goal := case one.kind
      when 'archive' then 'archived'
      when 'snooze' then 'snoozed'
      when 'unarchive' then 'read'
      when 'delete' then 'deleted'
      else one.kind
    end;
    if (case one.kind
      when 'read' then note.state <> 'unread'
      when 'unarchive' then note.state not in ('archived', 'snoozed')
      when 'snooze' then note.snoozed_until is not distinct from one.until
      else note.state = goal
    end) then
      -- An undo of the bulk act leaves what the user has marked or archived since.
      if one.kind in ('read', 'archive') and note.state = goal and note.bulk_version > 0 then
        update notification set bulk_version = -note.bulk_version where user_id = one.user_id and seq = note.seq;
      end if;
      answers[one.n] := 'unchanged';
      continue;
    end if;

    more_listed := (goal in ('unread', 'read'))::integer - (note.state in ('unread', 'read'))::integer;
    more_unread := (goal = 'unread')::integer - (note.state = 'unread')::integer;
    more_archived := (goal = 'archived')::integer - (note.state = 'archived')::integer;
    more_snoozed := (goal = 'snoozed')::integer - (note.state = 'snoozed')::integer;
    if one.kind = 'delete' then
      delete from notification where user_id = one.user_id and seq = note.seq;
      insert into removal (user_id, version, id, at, reason, producer, category)
        values (one.user_id, box.version + 1, one.id, one.at, 'deleted', note.producer, note.category);
      if box.version > 10000 then
        delete from removal where user_id = one.user_id and version <= box.version - 10000;
      end if;
      if note.seq = box.first_seq then
        box.first_seq := coalesce((select min(seq) from notification where user_id = one.user_id), box.last_seq + 1);
      end if;
    else
      update notification set state = goal,
          read_at = case when goal <> 'unread' then coalesce(read_at, one.at) end,
          archived_at = case when goal = 'archived' then one.at end,
          snoozed_until = case when goal = 'snoozed' then one.until end,
          bulk_version = 0, changed_version = box.version + 1,
          unarchived_version = case when one.kind = 'unarchive' then box.version + 1 else unarchived_version end
        where user_id = one.user_id and seq = note.seq;
    end if;
    update inbox i set version = i.version + 1, total = i.total + more_listed, unread = i.unread + more_unread,
        archived = i.archived + more_archived, snoozed = i.snoozed + more_snoozed,
        unseen = i.unseen + case when note.seq > i.seen_through then more_listed else 0 end, first_seq = box.first_seq
      where user_id = one.user_id;
    if note.category is not null then
      update inbox_category c set total = c.total + more_listed, unread = c.unread + more_unread,
          archived = c.archived + more_archived, snoozed = c.snoozed + more_snoozed
        where user_id = one.user_id and category = note.category;
      if one.kind = 'delete' then
        delete from inbox_category where user_id = one.user_id and category = note.category and total + archived + snoozed = 0;
      end if;
    end if;
    if box.reach & 8 = 8 then perform watch_change(box); end if;
    answers[one.n] := 'done';
  end loop;
  return answers;
end $$;

-- A webhook waits for a change of this inbox, given as it was before.
create or replace function watch_change(box inbox) returns void language plpgsql as $$
begin
  insert into reminder (user_id, channel, due_at, from_seq, from_version)
    values (box.user_id, 'webhook', 0, box.last_seq + 1, box.version) on conflict (user_id, channel) do nothing;
end $$;
