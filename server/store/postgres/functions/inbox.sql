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
  if not is_unread_now(box, found_one) then
    -- An undo then leaves it read. No response shows a difference before that, so the version stays.
    read_all_at := made_read_at(box, found_one);
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
    if is_unread_now(box, found_one) then return 'unchanged'; end if;
    if made_read_at(box, found_one) is not null then
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

-- It is called with values only: Citus cannot run it within a query of a table, so there the condition is written out.
-- Whether a read-all of its category covers the notification, other than the one at the version `except_version`.
create or replace function is_covered_by_category(box inbox, one notification, except_version bigint default -1)
returns boolean language plpgsql as $$
begin
  -- Few inboxes had a read-all of a category.
  if one.category is null or one.seq > box.category_through then return false; end if;
  return exists (
    select from category_read_mark m
    where m.user_id = box.user_id and m.category = one.category and m.through_seq >= one.seq
      and m.version > coalesce(one.unread_version, -1) and m.version <> except_version
  );
end $$;

create or replace function is_unread_now(box inbox, one notification) returns boolean language plpgsql as $$
begin
  return one.read_at is null and (one.seq > box.read_through or coalesce(one.unread_version, -1) >= box.read_version)
    and not is_covered_by_category(box, one);
end $$;

-- The time of the last read-all, if an undo would make unread the notification, which has no read_at; or null.
create or replace function made_read_at(box inbox, one notification) returns text language plpgsql as $$
declare
  mark read_mark;
  is_covered boolean;
begin
  if box.undo_version is null or is_covered_by_category(box, one, box.undo_version) then return null; end if;
  select * into mark from read_mark where user_id = box.user_id and version = box.undo_version;
  if mark.categories is null then
    is_covered := one.seq <= mark.through_seq and coalesce(one.unread_version, 0) < mark.version;
  else
    is_covered := is_covered_by_category(box, one);
  end if;
  if is_covered and (one.seq > mark.before_through or one.unread_version >= mark.before_version) then return mark.at; end if;
  return null;
end $$;

-- The notification is about to move to another category, whose read-alls are others: its read state becomes its own.
create or replace function keep_read_state(box inbox, one notification) returns void language plpgsql as $$
begin
  if one.read_at is not null then return; end if;
  if is_unread_now(box, one) then
    update notification set unread_version = box.version + 1 where user_id = box.user_id and seq = one.seq;
    return;
  end if;
  if made_read_at(box, one) is not null then perform leave_undo(box.user_id, box.undo_version, one.category); end if;
  update notification set unread_version = null, read_at = (
    select at from (
      select m.version, m.at from read_mark m
      where m.user_id = box.user_id and m.through_seq >= one.seq and m.version > coalesce(one.unread_version, -1)
      union all
      select m.version, m.at from category_read_mark m
      where m.user_id = box.user_id and m.category = one.category and m.through_seq >= one.seq
        and m.version > coalesce(one.unread_version, -1)
    ) mark order by version limit 1
  ) where user_id = box.user_id and seq = one.seq;
end $$;

-- From now on an undo leaves as it is a notification of this category that made_read_at found.
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
    select count(*) into still_unread from notification n
      where user_id = of_user and seq > through and read_at is null
        and not exists (
          select from category_read_mark m
          where m.user_id = n.user_id and m.category = n.category and m.through_seq >= n.seq
            and m.version > coalesce(n.unread_version, -1)
        );
  else
    -- Only notifications that were marked as unread become read, those up to this sequence number.
    if box.marked_unread > 0 then
      still_marked := marked_after(box, through);
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
          and not exists (
            select from category_read_mark m
            where m.user_id = n.user_id and m.category = n.category and m.through_seq >= n.seq
              and m.version > coalesce(n.unread_version, -1)
          )
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
      and not exists (
        select from category_read_mark m
        where m.user_id = n.user_id and m.category = n.category and m.through_seq >= n.seq
          and m.version > coalesce(n.unread_version, -1)
      )
    group by n.category
  ) counted
  where user_id = of_user and inbox_category.category = counted.category;
  -- Without this the read-all would make them read: their versions are lower than its own.
  if still_marked > 0 then
    update notification n set unread_version = box.version + 1
      where user_id = of_user and unread_version >= box.read_version and seq > through and seq <= box.read_through
        and not exists (
          select from category_read_mark m
          where m.user_id = n.user_id and m.category = n.category and m.through_seq >= n.seq
            and m.version > coalesce(n.unread_version, -1)
        );
  end if;
  return 'done';
end $$;

-- How many up to the high-water mark were marked as unread and lie after this sequence number.
create or replace function marked_after(box inbox, after bigint) returns bigint language plpgsql as $$
begin
  return (
    select count(*) from notification n
    -- Not by seq: the server would take the primary key, and pass over all notifications.
    where n.user_id = box.user_id and n.unread_version >= box.read_version and n.seq + 0 > after and n.seq + 0 <= box.read_through
      and not exists (
        select from category_read_mark m
        where m.user_id = n.user_id and m.category = n.category and m.through_seq >= n.seq
          and m.version > coalesce(n.unread_version, -1)
      )
  );
end $$;

-- mark_read_through for some categories: a row for each that changes. The high-water mark of the inbox stays.
create or replace function mark_categories_read(
  of_user text, of_categories text[], through_id text, max_seq bigint, moment text
) returns text language plpgsql as $$
declare
  box inbox;
  one record;
  through bigint;
  covered bigint;
  made bigint;
  all_made bigint := 0;
  changed text[] := '{}';
begin
  select * into box from inbox where user_id = of_user for update;
  if through_id is null then
    if box.user_id is null then return 'unchanged'; end if;
    through := least(box.last_seq, max_seq);
  else
    select seq into through from notification where user_id = of_user and id = through_id;
    if through is null then return 'absent'; end if;
  end if;
  for one in
    select category, unread from inbox_category
    where user_id = of_user and category = any (of_categories) and unread > 0
  loop
    select greatest(through, box.read_through, max(through_seq)) into covered
      from category_read_mark where user_id = of_user and category = one.category;
    -- Those that were marked as unread are few. The others lie above everything that a read-all covered.
    select one.unread - count(*) into made from notification n
      where n.user_id = of_user and n.category = one.category and n.seq > covered and n.read_at is null;
    if covered > through then
      select made - count(*) into made from notification n
        where n.user_id = of_user and n.unread_version > 0 and n.category = one.category and n.seq + 0 > through
          and n.seq + 0 <= covered and (n.seq > box.read_through or n.unread_version >= box.read_version)
          and not exists (
            select from category_read_mark m
            where m.user_id = n.user_id and m.category = n.category and m.through_seq >= n.seq
              and m.version > coalesce(n.unread_version, -1)
          );
    end if;
    continue when made = 0;
    if all_made = 0 then
      update inbox_category set made_read = 0 where user_id = of_user and made_read > 0;
    end if;
    insert into category_read_mark (user_id, category, through_seq, version, at)
      values (of_user, one.category, through, box.version + 1, moment);
    update inbox_category set unread = unread - made, made_read = made where user_id = of_user and category = one.category;
    all_made := all_made + made;
    changed := changed || one.category;
  end loop;
  if all_made = 0 then return 'unchanged'; end if;
  -- Not within the update, which Citus refuses.
  if box.marked_unread > 0 then box.marked_unread := marked_after(box, 0); end if;
  update inbox set version = version + 1, unread = unread - all_made, undo_version = version + 1,
      category_through = greatest(category_through, through), marked_unread = box.marked_unread
    where user_id = of_user;
  -- A through_seq of 0 covers nothing: the read-alls of everything are found by this column.
  insert into read_mark (user_id, version, through_seq, at, before_through, before_version, made_read, categories)
    values (of_user, box.version + 1, 0, moment, box.read_through, box.read_version, all_made, array_to_json(changed)::text);
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
  if mark.categories is not null then
    delete from category_read_mark
      where user_id = of_user and version = mark.version
        and category = any (array(select json_array_elements_text(mark.categories::json)));
  end if;
  box.read_through := mark.before_through;
  box.read_version := mark.before_version;
  -- Not within the update, which Citus refuses.
  box.marked_unread := marked_after(box, 0);
  update inbox set version = version + 1, read_through = box.read_through, read_version = box.read_version,
      unread = unread + mark.made_read,
      marked_unread = box.marked_unread,
      undo_version = null, reset_version = version + 1
    where user_id = of_user;
  update inbox_category set unread = unread + made_read, made_read = 0 where user_id = of_user and made_read > 0;
  return 'done';
end $$;
