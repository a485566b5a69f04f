/*
 * Files and folders that are there only while the program works: gone, too, when a signal ends it. All that plimsoll
 * deletes is deleted here (tools/files holds the sources to it), and that is only what it made itself:
 *
 *   plm_temporary_file()     makes one with a name that nobody has (mkostemps)
 *   plm_temporary_folder()   likewise (mkdtemp); files in it are temporary as well
 *   plm_temporary_remove()   one of these, or a file in such a folder; what is neither stays
 *   plm_temporary_forget()   it has got another name, or is to stay
 *   plm_ours_remove()        a file by a name that others can guess, which the caller has open and knows to be ours
 *
 * Paths belong to the caller, and stay as they are until they are removed or forgotten. One thread. Signals delete
 * nothing in children that were forked. Signals that are ignored or handled otherwise stay so.
 */
#ifndef PLM_BASE_TEMPORARY_H
#define PLM_BASE_TEMPORARY_H

/* `path` ends in XXXXXX and `suffix` more characters, and becomes the name. A descriptor, or -1 with errno. */
int plm_temporary_file(char *path, int suffix);
/* `path` ends in XXXXXX, and becomes the name. 0, or -1 with errno. */
int plm_temporary_folder(char *path);
void plm_temporary_forget(const char *path);
void plm_temporary_remove(const char *path);

/* Takes the name away from the file that is open as `file`; a link, or another file of that name, stays. 0, or -1 with
   errno. */
int plm_ours_remove(const char *path, int file);

#endif
