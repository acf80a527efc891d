-- Mark notifications of a user as read or unread. Each statement of a PL/pgSQL function sees what was committed
-- before that statement: after the inbox's row is locked, its notifications are read in their current state.

create or replace function mark_read(of_user text, of_id text, moment text) returns text language plpgsql as $$
declare
  box inbox;
  found_one notification;
  read_all_at text;
begin
  select * into box from inbox where user_id = of_user for update;
  select * into found_one from notification where user_id = of_user and id = of_id;
  if found_one.seq is null then return 'absent'; end if;
  if found_one.read_at is not null then return 'unchanged'; end if;
  if found_one.seq <= box.read_through and coalesce(found_one.unread_version, -1) < box.read_version then
    -- An undo then leaves it read. No response shows a difference before that, so the version stays.
    read_all_at := read_by_last_read_all(of_user, box.undo_version, found_one.seq, found_one.unread_version);
    if read_all_at is not null then
      update notification set read_at = read_all_at, unread_version = null
        where user_id = of_user and seq = found_one.seq;
      perform leave_undo(of_user, box.undo_version, found_one.category);
    end if;
    return 'unchanged';
  end if;
  update inbox set version = version + 1, unread = unread - 1,
      marked_unread = marked_unread - case when found_one.seq <= box.read_through then 1 else 0 end
    where user_id = of_user;
  update notification set read_at = moment, unread_version = null, changed_version = box.version + 1
    where user_id = of_user and seq = found_one.seq;
  if found_one.category is not null then
    update inbox_category set unread = unread - 1 where user_id = of_user and category = found_one.category;
  end if;
  return 'done';
end $$;

create or replace function mark_unread(of_user text, of_id text) returns text language plpgsql as $$
declare
  box inbox;
  found_one notification;
begin
  select * into box from inbox where user_id = of_user for update;
  select * into found_one from notification where user_id = of_user and id = of_id;
  if found_one.seq is null then return 'absent'; end if;
  if found_one.read_at is null then
    if found_one.seq > box.read_through or found_one.unread_version >= box.read_version then return 'unchanged'; end if;
    if read_by_last_read_all(of_user, box.undo_version, found_one.seq, found_one.unread_version) is not null then
      perform leave_undo(of_user, box.undo_version, found_one.category);
    end if;
  end if;
  update inbox set version = version + 1, unread = unread + 1,
      marked_unread = marked_unread + case when found_one.seq <= box.read_through then 1 else 0 end
    where user_id = of_user;
  update notification set read_at = null, unread_version = box.version + 1, changed_version = box.version + 1
    where user_id = of_user and seq = found_one.seq;
  if found_one.category is not null then
    update inbox_category set unread = unread + 1 where user_id = of_user and category = found_one.category;
  end if;
  return 'done';
end $$;

-- The time of the last read-all, if an undo would make unread the notification with this place, which has no read_at; or null.
create or replace function read_by_last_read_all(
  of_user text, of_undo_version bigint, of_seq bigint, of_unread_version bigint
) returns text language plpgsql as $$
declare
  mark read_mark;
begin
  if of_undo_version is null then return null; end if;
  select * into mark from read_mark where user_id = of_user and version = of_undo_version;
  if of_seq <= mark.through_seq and coalesce(of_unread_version, 0) < mark.version
    and (of_seq > mark.before_through or of_unread_version >= mark.before_version) then
    return mark.at;
  end if;
  return null;
end $$;

-- From now on an undo leaves as it is a notification of this category that read_by_last_read_all found.
create or replace function leave_undo(of_user text, of_undo_version bigint, of_category text)
returns void language plpgsql as $$
begin
  update read_mark set made_read = made_read - 1 where user_id = of_user and version = of_undo_version;
  update inbox_category set made_read = made_read - 1 where user_id = of_user and category = of_category;
end $$;

-- Through the notification with the id through_id, or else through max_seq, or else all; each may be null.
create or replace function mark_read_through(of_user text, through_id text, max_seq bigint, moment text)
returns text language plpgsql as $$
declare
  box inbox;
  through bigint;
  still_marked bigint := 0;
  still_unread bigint;
begin
  select * into box from inbox where user_id = of_user for update;
  if through_id is null then
    if box.user_id is null then return 'unchanged'; end if;
    through := least(box.last_seq, max_seq);
  else
    select seq into through from notification where user_id = of_user and id = through_id;
    if through is null then return 'absent'; end if;
  end if;
  if through > box.read_through then
    select count(*) into still_unread from notification
      where user_id = of_user and seq > through and read_at is null;
  else
    -- Only notifications that were marked as unread become read, those up to this sequence number.
    if box.marked_unread > 0 then
      select count(*) into still_marked from notification
        where user_id = of_user and unread_version >= box.read_version and seq > through and seq <= box.read_through;
    end if;
    still_unread := box.unread - box.marked_unread + still_marked;
  end if;
  if still_unread is not distinct from box.unread then return 'unchanged'; end if;
  update inbox set version = version + 1, read_through = greatest(read_through, through), read_version = version + 1,
      unread = still_unread, marked_unread = still_marked, undo_version = version + 1
    where user_id = of_user;
  insert into read_mark (user_id, version, through_seq, at, before_through, before_version, made_read)
    values (of_user, box.version + 1, through, moment, box.read_through, box.read_version, box.unread - still_unread);
  if through > box.read_through then
    update inbox_category set made_read = unread, unread = 0 where user_id = of_user and (unread > 0 or made_read > 0);
    if still_unread > 0 then
      update inbox_category set unread = counted.unread, made_read = made_read - counted.unread
      from (
        select n.category, count(*) as unread from notification n
        where n.user_id = of_user and n.seq > through and n.read_at is null and n.category is not null
        group by n.category
      ) counted
      where user_id = of_user and inbox_category.category = counted.category;
    end if;
    return 'done';
  end if;
  update inbox_category set made_read = 0 where user_id = of_user and made_read > 0;
  update inbox_category set unread = inbox_category.unread - counted.made_read, made_read = counted.made_read
  from (
    select n.category, count(*) as made_read from notification n
    where n.user_id = of_user and n.unread_version >= box.read_version and n.seq <= through and n.category is not null
    group by n.category
  ) counted
  where user_id = of_user and inbox_category.category = counted.category;
  -- Without this the read-all would make them read: their versions are lower than its own.
  if still_marked > 0 then
    update notification set unread_version = box.version + 1
      where user_id = of_user and unread_version >= box.read_version and seq > through and seq <= box.read_through;
  end if;
  return 'done';
end $$;

-- Takes back the last read-all, unless it was before `earliest`.
create or replace function undo_read_all(of_user text, earliest text) returns text language plpgsql as $$
declare
  box inbox;
  mark read_mark;
begin
  select * into box from inbox where user_id = of_user for update;
  if box.undo_version is null then return case when box.reset_version > 0 then 'unchanged' else 'nothing' end; end if;
  delete from read_mark where user_id = of_user and version = box.undo_version and at >= earliest returning * into mark;
  if mark.version is null then return 'nothing'; end if;
  update inbox set version = version + 1, read_through = mark.before_through, read_version = mark.before_version,
      unread = unread + mark.made_read,
      marked_unread = (
        select count(*) from notification n
        where n.user_id = of_user and n.unread_version >= mark.before_version and n.seq <= mark.before_through
      ),
      undo_version = null, reset_version = version + 1
    where user_id = of_user;
  update inbox_category set unread = unread + made_read, made_read = 0 where user_id = of_user and made_read > 0;
  return 'done';
end $$;

-- For nodes of the version before.
create or replace function mark_all_read(of_user text, through_id text, moment text) returns text language plpgsql as $$
begin
  return mark_read_through(of_user, through_id, null, moment);
end $$;
