/**
 * A program for perl that holds some folders of a workspace and tells which of their entries changed. It runs as long as
 * commands follow each other, so it knows the names and asks only for their change times: no list of names is printed,
 * read or parsed for an unchanged folder.
 *
 * Its arguments are the workspace, and the numbers of three system calls (inotify_init1, inotify_add_watch,
 * inotify_rm_watch) or nothing.
 * Each request and each line of an answer ends with a NUL byte:
 *
 * - `+IDENTITY PATH` holds a folder, `-PATH` lets it go. No answer.
 * - `?SECOND` asks for everything that changed from that second on: `dPATH` for a folder with other names, or with
 *   another folder at its path, and `ePATH` for any other entry.
 * - `q` asks whether no program changed anything in these folders since the last `?` began: `y` or `n`. A write to mapped
 *   memory is an event only when the program closes the file.
 *
 * The line `.` ends an answer.
 *
 * It enters a folder by its path and then compares the identity, so a link on the way leads nowhere.
 */
export const changeReaderScript = `
my ($root, $init, $add, $remove) = @ARGV;
my (%folders, $events, $isChanged, $out);
my $mask = 0x01000fce;
# Then -C is the change time itself: a negative number of days.
$^T = 0;
my $watch = $init ? syscall($init + 0, 0x80800) : -1;
open($events, "<&=", $watch) if $watch >= 0;
binmode STDIN; binmode STDOUT;

sub readEvents {
  for (1 .. 1000) { sysread($events, my $bytes, 65536) ? ($isChanged = 1) : last }
}

sub hold {
  my ($identity, $path) = split / /, $_[0], 2;
  my $number = -1;
  if ($events && chdir "$root/$path") {
    my ($dot, @stats) = (".", lstat ".");
    $number = syscall($add + 0, $watch, $dot, $mask) if "$stats[0]:$stats[1]" eq $identity;
    chdir "/";
  }
  $folders{$path} = { identity => $identity, names => undef, changed => 0, watch => $number };
}

sub letGo {
  my $folder = delete $folders{$_[0]} or return;
  syscall($remove + 0, $watch, $folder->{watch}) if $folder->{watch} >= 0;
}

sub look {
  my ($path, $folder, $since, $days) = @_;
  my @stats = chdir("$root/$path") ? lstat "." : ();
  return $out .= "d$path\\0" if !@stats || "$stats[0]:$stats[1]" ne $folder->{identity};
  return $out .= "d$path\\0" if $stats[10] >= $since;
  # The names were read in a later second than the change, so every change since has another time.
  if ($folder->{names} && $stats[10] == $folder->{changed}) {
    for (@{$folder->{names}}) { $out .= "e$path$_\\0" if lstat $_ and -C _ < $days }
    return;
  }
  my @names;
  opendir(my $handle, ".") or return $out .= "d$path\\0";
  for (readdir $handle) {
    next if !lstat $_ or -d _;
    push @names, $_;
    $out .= "e$path$_\\0" if -C _ < $days;
  }
  @$folder{"names", "changed"} = (\\@names, $stats[10]);
}

sub answer {
  my ($text) = @_;
  while ($text ne "") { substr($text, 0, syswrite(STDOUT, $text) || exit 1) = "" }
}

$/ = "\\0";
while (defined(my $line = <STDIN>)) {
  chomp $line;
  my $rest = substr $line, 1;
  if ($line =~ /^\\+/) { hold($rest) }
  elsif ($line =~ /^-/) { letGo($rest) }
  elsif ($line eq "q") {
    readEvents() if $events;
    answer(!$events || $isChanged || grep({ $_->{watch} < 0 } values %folders) ? "n\\0.\\0" : "y\\0.\\0");
  } else {
    readEvents() if $events;
    ($isChanged, $out) = (0, "");
    my $days = (0.5 - $rest) / 86400;
    look($_, $folders{$_}, $rest, $days) for keys %folders;
    # A working folder would keep its file system from being unmounted.
    chdir "/";
    answer("$out\\0.\\0");
  }
}
`;
